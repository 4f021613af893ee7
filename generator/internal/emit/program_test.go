package emit_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/emit"
	"github.com/mcpkiln/mcpkiln/generator/internal/lower"
	"github.com/mcpkiln/mcpkiln/schema"
)

// module writes a Go module that links against this one and returns its directory.
func module(t testing.TB, files map[string][]byte) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files["go.mod"] = fmt.Appendf(nil, "module example.com/generated\n\ngo 1.26.0\n\nrequire github.com/mcpkiln/mcpkiln v0.0.0\n\n"+
		"replace github.com/mcpkiln/mcpkiln => %s\n", root)
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// goRun runs the go command in dir.
func goRun(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// program is a running program that decodes and encodes with the generated code of many schemas.
type program struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// answer is what the program says of one instance.
type answer struct {
	Error  string          // of decoding; empty if the instance is valid
	Out    json.RawMessage // encoded again
	Stable string          // what went wrong when the encoded form was decoded and encoded again
}

// build generates one package of all schemas, compiles it and starts it.
func build(t testing.TB, schemas []string) *program {
	t.Helper()
	types := lower.NewTypes()
	var table strings.Builder
	for i, text := range schemas {
		n, diags := schema.ParseJSON(fmt.Sprintf("s%d.json", i), []byte(text))
		if diags.HasErrors() {
			t.Fatalf("%s\n%v", text, diags)
		}
		doc, diags := schema.NewDocument(n, nil)
		if diags.HasErrors() {
			t.Fatalf("%s\n%v", text, diags)
		}
		name := fmt.Sprintf("S%d", i)
		ref := types.Lower(lower.Root{Document: doc, Name: name, Scope: name, Use: both})
		fmt.Fprintf(&table, "\trun(%s, %s),\n", ref.Decode, ref.Append)
	}
	decls, diags := types.Finish()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	main := strings.Replace(programSource, "TABLE", table.String(), 1)
	dir := module(t, map[string][]byte{
		"types.gen.go": emit.TypesFile(emit.Header, "main", decls), "validate.gen.go": emit.ValidateFile(emit.Header, "main", decls),
		"main.go": []byte(main),
	})
	goRun(t, dir, "build", "-o", "program", ".")
	return start(t, filepath.Join(dir, "program"))
}

func start(t testing.TB, path string) *program {
	t.Helper()
	cmd := exec.Command(path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the program: %v", err)
		}
	})
	return &program{in, bufio.NewReader(out)}
}

// ask sends one instance of the schema with that index. The instance must be on one line.
func (p *program) ask(t testing.TB, schema int, instance []byte) answer {
	t.Helper()
	if bytes.ContainsRune(instance, '\n') {
		t.Fatalf("instance on several lines: %s", instance)
	}
	if _, err := fmt.Fprintf(p.in, "%d %s\n", schema, instance); err != nil {
		t.Fatal(err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("schema %d, instance %s: %v", schema, instance, err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return a
}

// programSource is main.go of that program: a line in, a line out.
const programSource = `package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

type answer struct {
	Error  string
	Out    json.RawMessage
	Stable string
}

var table = []func([]byte) answer{
TABLE}

func run[T any](decode func(*check.Decoder, *T), encode func([]byte, *T) []byte) func([]byte) answer {
	return func(data []byte) (a answer) {
		var v, w T
		if err := check.Decode(data, check.Limits{}, decode, &v); err != nil {
			a.Error = err.Error()
			return a
		}
		a.Out = encode(nil, &v)
		if err := check.Decode(a.Out, check.Limits{}, decode, &w); err != nil {
			a.Stable = err.Error()
			return a
		}
		if again := encode(nil, &w); !bytes.Equal(again, a.Out) {
			a.Stable = string(again)
		}
		return a
	}
}

func main() {
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		number, instance, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		i, _ := strconv.Atoi(string(number))
		reply, err := json.Marshal(table[i](instance))
		if err != nil {
			reply = fmt.Appendf(nil, "{\"Stable\":%q}", err.Error())
		}
		out.Write(append(reply, '\n'))
		out.Flush()
	}
}
`
