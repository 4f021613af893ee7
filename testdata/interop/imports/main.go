// Imports imports servers of others that run, builds the servers that are generated of them, and compares what both answer to tools/list.
//
//	go run ./testdata/interop/imports -mcpkiln BIN -replace MODULE_DIR SERVERS-DIRECTORY
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
)

// servers are commands with their arguments.
var servers = [][]string{
	{"mcp-server-everything"},
	{"mcp-server-filesystem", "."},
	{"mcp-server-memory"},
	{"mcp-server-sequential-thinking"},
}

// module builds one server at a time.
type module struct{ dir, mcpkiln, commands string }

func main() {
	mcpkiln := flag.String("mcpkiln", "mcpkiln", "the mcpkiln command")
	replace := flag.String("replace", "", "directory of the mcpkiln module that servers link against")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: imports [-mcpkiln BIN] -replace MODULE_DIR SERVERS-DIRECTORY")
		os.Exit(2)
	}
	passed, failed := 0, 0
	for _, server := range servers {
		n, err := try(*mcpkiln, *replace, flag.Arg(0), server)
		if err != nil {
			failed++
			fmt.Printf("FAIL  %s: %v\n", server[0], err)
			continue
		}
		passed++
		fmt.Printf("ok    %s: %d tools are imported, and listed by the generated server as by the source\n", server[0], n)
	}
	fmt.Printf("interop, imports: %d passed, %d failed\n", passed, failed)
	if failed > 0 || passed == 0 {
		os.Exit(1)
	}
}

// try imports one server, generates, builds and compares. It returns how many tools it has.
func try(mcpkiln, replace, commands string, server []string) (tools int, err error) {
	dir, err := os.MkdirTemp("", "mcpkiln-imports-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if mcpkiln, err = filepath.Abs(mcpkiln); err != nil {
		return 0, err
	}
	if commands, err = filepath.Abs(filepath.Join(commands, "node_modules", ".bin")); err != nil {
		return 0, err
	}
	m := &module{dir, mcpkiln, commands}
	source := append([]string{filepath.Join(m.commands, server[0])}, server[1:]...)
	if err := m.build(replace, source); err != nil {
		return 0, err
	}
	want, err := m.list("", source...)
	if err != nil {
		return 0, err
	}
	got, err := m.list(want.ProtocolVersion, "./server")
	if err != nil {
		return 0, err
	}
	if !reflect.DeepEqual(got, want) {
		return 0, fmt.Errorf("the generated server says\n%+v\nand the source\n%+v", got, want)
	}
	return len(want.Tools), nil
}

// build makes a program that lists the tools of the source, and has none of them.
func (m *module) build(replace string, source []string) error {
	if _, err := m.run("go", "mod", "init", "example.com/imports"); err != nil {
		return err
	}
	if _, err := m.run("go", "mod", "edit", "-require", "github.com/mcpkiln/mcpkiln@v0.0.0", "-replace", "github.com/mcpkiln/mcpkiln="+replace); err != nil {
		return err
	}
	if _, err := m.run(m.mcpkiln, append([]string{"import", "--"}, source...)...); err != nil {
		return err
	}
	if _, err := m.run(m.mcpkiln, "generate"); err != nil {
		return err
	}
	manifest, err := os.ReadFile(filepath.Join(m.dir, "mcpkiln.yaml"))
	if err != nil {
		return err
	}
	name := regexp.MustCompile(`(?m)^go: \{package: (\w+),`).FindSubmatch(manifest)
	if name == nil {
		return fmt.Errorf("the manifest names no package:\n%s", manifest)
	}
	if err := os.WriteFile(filepath.Join(m.dir, "main.go"), bytes.ReplaceAll([]byte(program), []byte("NAME"), name[1]), 0o666); err != nil {
		return err
	}
	_, err = m.run("go", "build", "-o", "server", ".")
	return err
}

const program = `package main

import (
	"context"
	"log"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"

	"example.com/imports/internal/NAME"
)

type handlers struct{ NAME.Handlers }

func main() {
	srv, err := NAME.New(&handlers{})
	if err == nil {
		err = srv.Run(server.WithPrincipal(context.Background(), "stdio"), rpc.Stdio())
	}
	if err != nil {
		log.Fatal(err)
	}
}
`

// said is what a server says of itself.
type said struct {
	ProtocolVersion string
	ServerInfo      map[string]any
	Instructions    string
	Tools           []map[string]any
}

// list asks a server in a revision, or in that which is picked.
func (m *module) list(revision string, command ...string) (*said, error) {
	text, err := m.run(m.mcpkiln, append([]string{"tools", "--json", "--revision", revision, "--"}, command...)...)
	if err != nil {
		return nil, err
	}
	var s said
	return &s, json.Unmarshal(text, &s)
}

// run runs a command in the module and returns its standard output.
func (m *module) run(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = m.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w\n%s", name, args, err, stderr.Bytes())
	}
	return out, nil
}
