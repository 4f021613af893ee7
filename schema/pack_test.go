package schema

import (
	"io/fs"
	"reflect"
	"sync"
	"testing"
)

func TestREV04WhatIsPackedIsUnpackedAsItWas(t *testing.T) {
	texts := map[string]string{
		"a.json": "{}", "b.json": "[]", "c.json": `[null, true, false, -1.50e3, "", "a\nb", {"~/": {"": [[], {}]}, "x": "x"}]`,
		"d.yaml": "# comment\na: 2026-07-28\nb: 'quoted'\nc:\n  - yes\n  - {d: 1, e: null}\n\nf: |\n  several\n  lines\ng: ~\nh: &here {a: 1}\ni: [\n  2,\n  *here]\n",
	}
	var roots []*Node
	for file, text := range texts {
		root, ds := Parse(file, []byte(text))
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		roots = append(roots, root)
	}
	p, err := OpenPacked(string(Pack(roots...)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range roots {
		if got := p.Unpack(want.Pos.File); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %s, want %s, or another position", want.Pos.File, got.JSON(), want.JSON())
		}
		if a, b := p.Unpack(want.Pos.File), p.Unpack(want.Pos.File); a == b {
			t.Error("a tree is given twice, so that who changes it changes both")
		}
	}
	if p.Unpack("none.json") != nil {
		t.Error("a file that was not packed is unpacked")
	}
}

func TestREV04WhatPackDidNotWriteIsRefused(t *testing.T) {
	root, _ := Parse("a.json", []byte(`{"a": [1, "b"]}`))
	whole := string(Pack(root))
	for i := range len(whole) {
		if _, err := OpenPacked(whole[:i]); err == nil {
			t.Errorf("%d bytes of %d are read", i, len(whole))
		}
	}
	for _, text := range []string{whole + "x", "\xff\xff\xff\xff\xff\xff"} {
		if _, err := OpenPacked(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// TestREV04ADamagedTreeIsNoticed changes the last byte of a tree, which is the number of a text.
func TestREV04ADamagedTreeIsNoticed(t *testing.T) {
	root, _ := Parse("a.json", []byte(`{"a": [1, "b"]}`))
	packed := Pack(root)
	packed[len(packed)-1] = 100
	p, err := OpenPacked(string(packed))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a text that there is not was read")
		}
	}()
	p.Unpack("a.json")
}

const divided = `{"$defs": {"a": {"type": "string"}, "b~/": {"properties": {"x": {"$ref": "#/$defs/a"}}}, "c": true}, "definitions": {"a": {"items": {}}}, "$ref": "#/$defs/b~0~1"}`

// TestREV04DefinitionsAreUnpackedWhenTheyAreNeeded reaches definitions in every way, each in a new document of which nothing else is unpacked.
func TestREV04DefinitionsAreUnpackedWhenTheyAreNeeded(t *testing.T) {
	root, _ := Parse("a.json", []byte(divided))
	whole, _ := NewDocument(root, nil)
	p, err := OpenPacked(string(Pack(root)))
	if err != nil {
		t.Fatal(err)
	}
	resolve := func(ref string) func(*Document) *Node {
		return func(d *Document) *Node { n, _ := d.Resolve(ref, nil); return n }
	}
	for name, way := range map[string]struct {
		get  func(*Document) *Node
		left int // how many definitions stay packed
	}{
		"Definition":             {func(d *Document) *Node { return d.Definition("b~/") }, 3},
		"Definition, both keys":  {func(d *Document) *Node { return d.Definition("a") }, 3},
		"Definitions":            {func(d *Document) *Node { return d.Definitions()[3].Value }, 0},
		"Resolve":                {resolve("#/$defs/b~0~1/properties/x"), 3},
		"Resolve, the other key": {resolve("#/definitions/a/items"), 3},
		"Resolve, the root":      {resolve("#"), 4},
		"Lookup":                 {func(d *Document) *Node { return d.Lookup("/$defs/c") }, 3},
		"Bundle":                 {(*Document).Bundle, 0},
		"Lint":                   {func(d *Document) *Node { d.Lint(); return d.Root }, 0},
	} {
		d := p.Document("a.json")
		got, want := way.get(d), way.get(whole)
		left := 0
		for _, key := range definitionKeys {
			for _, m := range d.Root.Get(key).Members {
				if m.Value.Kind == packedNode {
					left++
				}
			}
		}
		if left != way.left || left == 0 && !reflect.DeepEqual(got, want) || got.Pointer != want.Pointer || got.Pos != want.Pos {
			t.Errorf("%s: got %+v, want %+v; %d definitions are packed, not %d", name, got, want, left, way.left)
		}
		if d.Definitions(); !reflect.DeepEqual(d.Root, root) {
			t.Errorf("%s: the document is %s", name, d.Root.JSON())
		}
	}
}

func TestREV04DefinitionsAreUnpackedOnce(t *testing.T) {
	root, _ := Parse("a.json", []byte(divided))
	p, err := OpenPacked(string(Pack(root)))
	if err != nil {
		t.Fatal(err)
	}
	d := p.Document("a.json")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if n := d.Definition("b~/"); n.Get("properties").Get("x").Get("$ref") == nil || n != d.Definition("b~/") {
				t.Errorf("got %+v", n)
			}
		})
	}
	wg.Wait()
	defer func() {
		if recover() == nil {
			t.Error("a tree is walked, though definitions are packed")
		}
	}()
	if p.Document("none.json") != nil {
		t.Error("a file that was not packed is a document")
	}
	d.Root.Walk(func(*Node) bool { return true })
}

// TestREV04EmbeddedDocumentsCanStayPacked holds them against what Packed.Document demands.
func TestREV04EmbeddedDocumentsCanStayPacked(t *testing.T) {
	files, _ := fs.Glob(Revisions, "*/*.json")
	for _, file := range files {
		text, _ := fs.ReadFile(Revisions, file)
		root, _ := Parse(file, text)
		d, ds := NewDocument(root, nil)
		if len(ds)+len(d.ids.anchors)+len(d.ids.goTypes) > 0 || len(d.ids.resources) != 1 || d.Meta != nil || d.sensitive {
			t.Errorf("%s has an $id, an anchor, a goType, x-sensitive or a reference to the meta-schema: unpack its definitions in Packed.Document", file)
		}
	}
	if len(files) < 6 {
		t.Errorf("there are %d documents", len(files))
	}
}
