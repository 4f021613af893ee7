package wire

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// TestREV04OptionalMembers: what is zero is left out, with the objects that hold nothing else.
func TestREV04OptionalMembers(t *testing.T) {
	for want, b := range map[string][]byte{
		`{`:                    OptionalString([]byte("{"), `"a":`, ""),
		`{"a":"b"`:             OptionalString([]byte("{"), `"a":`, "b"),
		`{"x":1,"m":{"a":"b"}`: OptionalString([]byte(`{"x":1`), `"m":{"a":`, "b", "}"),
		`{"x":1`:               OptionalString([]byte(`{"x":1`), `"m":{"a":`, "", "}"),
		`{"m":{"n":{"a":[1]}}`: OptionalRaw([]byte("{"), `"m":{"n":{"a":`, []byte("[1]"), "}}"),
		`{"y":0`:               OptionalRaw([]byte(`{"y":0`), `"a":`, nil),
		`{"a":true`:            OptionalBool([]byte("{"), `"a":`, true),
		`{"n":0`:               OptionalBool([]byte(`{"n":0`), `"a":`, false),
		`{"a":0.5`:             OptionalFloat([]byte("{"), `"a":`, 0.5),
		`{"f":0`:               OptionalFloat([]byte(`{"f":0`), `"a":`, 0),
		`{"a":7`:               OptionalMillis([]byte("{"), `"a":`, 7),
		`{"a":null`:            OptionalMillis([]byte("{"), `"a":`, -1),
		`{"g":0`:               OptionalMillis([]byte(`{"g":0`), `"a":`, 0),
		`{"m":{"a":3}`:         OptionalID([]byte("{"), `"m":{"a":`, rpc.IntID(3), "}"),
		`{"i":0`:               OptionalID([]byte(`{"i":0`), `"a":`, rpc.ID{}),
		`{"a":["b","c"]`:       OptionalStrings([]byte("{"), `"a":`, []string{"b", "c"}),
		`{"s":0`:               OptionalStrings([]byte(`{"s":0`), `"a":`, nil),
	} {
		if string(b) != want {
			t.Errorf("wrote %s, want %s", b, want)
		}
	}
}
