package schema

import (
	"reflect"
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
