package wire

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// TestREV04OptionalMembers: what is zero is left out, with the objects that hold nothing else.
func TestREV04OptionalMembers(t *testing.T) {
	for want, b := range map[string][]byte{
		`{`:                    Writer("{").OptionalString(`"a":`, ""),
		`{"a":"b"`:             Writer("{").OptionalString(`"a":`, "b"),
		`{"x":1,"m":{"a":"b"}`: Writer(`{"x":1`).OptionalString(`"m":{"a":`, "b", "}"),
		`{"x":1`:               Writer(`{"x":1`).OptionalString(`"m":{"a":`, "", "}"),
		`{"m":{"n":{"a":[1]}}`: Writer("{").OptionalRaw(`"m":{"n":{"a":`, []byte("[1]"), "}}"),
		`{"y":0`:               Writer(`{"y":0`).OptionalRaw(`"a":`, nil),
		`{"a":true`:            Writer("{").OptionalBool(`"a":`, true),
		`{"n":0`:               Writer(`{"n":0`).OptionalBool(`"a":`, false),
		`{"a":0.5`:             Writer("{").OptionalFloat(`"a":`, 0.5),
		`{"f":0`:               Writer(`{"f":0`).OptionalFloat(`"a":`, 0),
		`{"a":7`:               Writer("{").OptionalMillis(`"a":`, 7),
		`{"a":null`:            Writer("{").OptionalMillis(`"a":`, -1),
		`{"g":0`:               Writer(`{"g":0`).OptionalMillis(`"a":`, 0),
		`{"m":{"a":3}`:         Writer("{").OptionalID(`"m":{"a":`, rpc.IntID(3), "}"),
		`{"i":0`:               Writer(`{"i":0`).OptionalID(`"a":`, rpc.ID{}),
		`{"a":["b","c"]`:       Writer("{").OptionalStrings(`"a":`, []string{"b", "c"}),
		`{"s":0`:               Writer(`{"s":0`).OptionalStrings(`"a":`, nil),
	} {
		if string(b) != want {
			t.Errorf("wrote %s, want %s", b, want)
		}
	}
}
