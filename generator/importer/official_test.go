//go:build official

package importer

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var official = flag.String("shared", "", "directory with corpus/")

// TestOfficialImport imports every tool definition of the corpus, as one list and each alone: all are advertised as they are.
func TestOfficialImport(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(*official, "corpus", "*", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no corpus in %q: %v", *official, err)
	}
	var all [][]byte
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
		proven(t, path, append(append([]byte{'['}, data...), ']'), 1)
	}
	proven(t, "all", append(append([]byte{'['}, bytes.Join(all, []byte{','})...), ']'), len(paths))
	t.Logf("%d tool definitions imported, alone and together: all are advertised as they are", len(paths))
}

func proven(t *testing.T, name string, list []byte, want int) {
	t.Helper()
	s, err := Read(name, list)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{}, {Client: true, Suggest: true}} {
		if got, err := Import(t.Context(), s, o); err != nil || got.Kept != want || len(got.Lost) > 0 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
