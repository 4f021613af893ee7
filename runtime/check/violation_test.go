package check_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// TestVAL02ViolationLines holds every kind of violation against testdata/violations.golden: a line a model can act on,
// with the pointers of the instance and of the schema.
func TestVAL02ViolationLines(t *testing.T) {
	var b strings.Builder
	add := func(title, data string, err error) {
		b.WriteString("== " + title + "\n" + data + "\n")
		all, ok := err.(check.Violations)
		if !ok {
			t.Errorf("%s: got %v, want violations", title, err)
			return
		}
		for _, v := range all {
			b.WriteString("   " + v.Error() + "\n      by " + v.Schema + "\n")
		}
	}
	each(add, "order", decodeOrderInput,
		`{"symbol":"","side":"hold","quantity":0,"limit":-0.015,"venue":null,"note":3,"memo":{},"colour":"red"}`,
		`{"symbol":"acme-long-name","side":7,"quantity":1.5,"limit":"a"}`,
		`{"symbol":"A","side":"buy","quantity":1000001,"quantity":2,"note":null}`,
		`{"symbol":"A","side":"buy","quantity":92233720368547758080,"note":null,"limit":1e999}`,
		`[1, 2]`,
		`{}`)
	each(add, "basket", decodeBasket,
		`{"buyer":{"id":1,"x/~":2},"lines":[],"tags":["a","b","a"],"prices":{"p/q":"free"},"stock":{"s":{"sku":"s"}},"parent":null}`,
		`{"buyer":3,"lines":[{"sku":"a","count":1},{"sku":2,"count":0}],"extra":{"a":1,"a":2}}`)
	each(add, "tree", decodeTree, `{"name":"a","children":[{"name":"b","children":[{"nam":1}]}],"next":{"name":2}}`)
	each(add, "shape", decodeShape, `{"kind":"hexagon"}`, `{"radius":1}`, `{"kind":4}`, `"circle"`, `{"kind":"circle","radius":"big"}`)
	each(add, "owner", decodeOwner, `true`, `1.5`)
	each(add, "source", decodeSource, `{}`, `[]`, `{"url":"not a uri"}`)
	each(add, "target", decodeTarget, `{"sku":"a"}`, `{"id":"a","sku":"b"}`, `3`, `{"id":"a","x":"b"}`)
	each(add, "contact", decodeContact, `{"name":"","email":"@"}`, `{"name":"abcd","email":"a@b.c"}`)
	each(add, "parcel", decodeParcel,
		`{"lost":true,"express":1,"x-tag":"a"}`,
		`{"size":[-1,"cm","in","cm",2.5],"none":1,"x-a-very-long-name":"ab"}`,
		`{"size":[],"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}`)
	each(add, "hostile text", decodeBuyer, `{"id":3,"\u202eevil\nkey\u0000":1}`, "{\"id\":[\"a\\u0007b\",\n\t1]}", `{"id":{"a":"`+strings.Repeat("long ", 100)+`"}}`)
	golden(t, "testdata/violations.golden", b.String())
}

func each[T any](add func(string, string, error), title string, decode func(*check.Decoder, *T), inputs ...string) {
	for _, in := range inputs {
		var v T
		add(title, in, check.Decode([]byte(in), check.Limits{}, decode, &v))
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}
