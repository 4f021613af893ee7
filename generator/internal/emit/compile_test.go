package emit_test

import (
	"bytes"
	"go/format"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema"
)

// TestGoldensAreGofmtStable shows that what is emitted needs no formatter.
func TestGoldensAreGofmtStable(t *testing.T) {
	for _, path := range archives(t, "golden") {
		a := parse(t, path)
		r := generate(t, a.Files[0].Name, a.Files[0].Data, "golden", asked(a))
		for file, src := range map[string][]byte{"types": r.types, "validate": r.validate} {
			gofmtStable(t, path+" "+file, src)
		}
	}
}

func gofmtStable(t testing.TB, what string, src []byte) {
	t.Helper()
	formatted, err := format.Source(src)
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, src)
	}
	if !bytes.Equal(src, formatted) {
		t.Errorf("%s: gofmt changes it:\n%s", what, firstDifference(string(formatted), string(src)))
	}
}

// TestGoldensCompileAndVet builds all goldens in one module; staticcheck has the last word.
func TestGoldensCompileAndVet(t *testing.T) {
	files := map[string][]byte{}
	for _, path := range archives(t, "golden") {
		a := parse(t, path)
		pkg := strings.ReplaceAll(name(path), "-", "")
		r := generate(t, a.Files[0].Name, a.Files[0].Data, pkg, asked(a))
		files[filepath.Join(pkg, "types.gen.go")] = r.types
		files[filepath.Join(pkg, "validate.gen.go")] = r.validate
		// The package half of the generator calls these; without a call they would count as unused.
		files[filepath.Join(pkg, "use.go")] = []byte("package " + pkg + "\n\nimport \"github.com/mcpkiln/mcpkiln/runtime/check\"\n\n" +
			"// Use reads and writes.\nfunc Use(d *check.Decoder, b []byte) []byte {\n\tvar v " + r.root.Name + "\n\t" +
			r.root.Decode + "(d, &v)\n\treturn " + r.root.Append + "(b, &v)\n}\n")
	}
	dir := module(t, files)
	goRun(t, dir, "vet", "./...")
	goRun(t, dir, "run", "honnef.co/go/tools/cmd/staticcheck@v0.8.2", "-checks=all,-ST1000", "./...")
}

// TestShuffledSchemasGiveTheSameBytes: the order of members says nothing in JSON, so it changes nothing in Go.
func TestShuffledSchemasGiveTheSameBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, path := range archives(t, "golden") {
		a := parse(t, path)
		want := generate(t, "schema.json", a.Files[0].Data, "golden", asked(a))
		n, diags := schema.ParseJSON("schema.json", a.Files[0].Data)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		for range 5 {
			n.Walk(func(n *schema.Node) bool {
				rng.Shuffle(len(n.Members), func(i, j int) { n.Members[i], n.Members[j] = n.Members[j], n.Members[i] })
				return true
			})
			got := generate(t, "schema.json", n.JSON(), "golden", asked(a))
			if !bytes.Equal(got.types, want.types) || !bytes.Equal(got.validate, want.validate) {
				t.Errorf("%s: %s", path, firstDifference(string(got.types)+string(got.validate), string(want.types)+string(want.validate)))
			}
		}
	}
}
