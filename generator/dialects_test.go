package generator

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// What a client speaks is generated from the same folders as what a server does.
func TestREV04TheClientSpeaksWhatIsGenerated(t *testing.T) {
	const dir = "../runtime/client/internal/dialects"
	files, err := Dialects("dialects")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Path)
		if *update {
			if err := os.WriteFile(path, f.Content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if old, err := os.ReadFile(path); !bytes.Equal(old, f.Content) {
			t.Errorf("%s is not what is generated (%v): go test ./generator -update", path, err)
		}
	}
	if want := len(revision.Names()) + 1; len(files) != want {
		t.Errorf("%d files, want %d", len(files), want)
	}
}
