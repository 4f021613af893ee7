package revision

import (
	"bytes"
	"io/fs"
	"os"
	"reflect"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema"
)

// What Load reads is what the embedded files say, to the last position: a file that was edited without packing it again fails here.
func TestREV04PackedDocumentsAreTheFiles(t *testing.T) {
	want, ds := pack()
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	if *update {
		if err := os.WriteFile(packedFile, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(packedFile)
	if err != nil || !bytes.Equal(have, want) {
		t.Fatalf("%s is not what the files of the revisions say (%v): make golden", packedFile, err)
	}
	p, err := schema.OpenPacked(string(have))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		files, _ := fs.Glob(schema.Revisions, name+"/*")
		for _, file := range files {
			data, _ := fs.ReadFile(schema.Revisions, file)
			if root, _ := schema.Parse(file, data); !reflect.DeepEqual(p.Unpack(file), root) {
				t.Errorf("%s is not what is packed of it", file)
			}
		}
		if len(files) < 2 {
			t.Errorf("%s has %d files", name, len(files))
		}
	}
}
