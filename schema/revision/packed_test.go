package revision

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"reflect"
	"slices"
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
			root, _ := schema.Parse(file, data)
			if path.Base(file) == RulesFile {
				root = onlyEdits(root)
			}
			if !reflect.DeepEqual(p.Unpack(file), root) {
				t.Errorf("%s is not what is packed of it", file)
			}
		}
		if len(files) < 2 {
			t.Errorf("%s has %d files", name, len(files))
		}
	}
}

// What is packed of the union says of each revision what the documents say.
func TestREV07PackedUnionIsThatOfTheDocuments(t *testing.T) {
	var all []*Revision
	for _, name := range Names() {
		r, ds := Load(name)
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		all = append(all, r)
	}
	want, lacking := NewUnion(all...), 0
	if !slices.Equal(Embedded().Meta, want.Meta) || !slices.Equal(Embedded().ResultTypes, want.ResultTypes) || len(want.Meta) == 0 || len(want.ResultTypes) != 1 {
		t.Errorf("packed are %v and %v, the documents have %v and %v", Embedded().Meta, Embedded().ResultTypes, want.Meta, want.ResultTypes)
	}
	if Embedded().ToolResult != want.ToolResult || want.ToolResult == "" {
		t.Errorf("packed is %q as a tool's result, the documents have %q", Embedded().ToolResult, want.ToolResult)
	}
	for _, r := range all {
		for _, name := range append(all[len(all)-1].definitions(), r.definitions()...) {
			properties, types := want.LacksProperties(r, name), want.LacksTypes(r, name)
			if !slices.Equal(Embedded().LacksProperties(r, name), properties) || !slices.Equal(Embedded().LacksTypes(r, name), types) {
				t.Errorf("%s: what %s lacks is packed as %v and %v, want %v and %v", r.Name, name,
					Embedded().LacksProperties(r, name), Embedded().LacksTypes(r, name), properties, types)
			}
			lacking += len(properties) + len(types)
		}
	}
	if lacking == 0 {
		t.Error("no revision lacks anything")
	}
}
