package schema

import (
	"strings"
	"testing"
)

// TestVAL07YAMLSlipsHaveARemedy: an error stands where the mistake is, which is often not where the YAML reader notices it, with what to
// write instead.
func TestVAL07YAMLSlipsHaveARemedy(t *testing.T) {
	const noEnd = "close the quotes: the text that begins here "
	const outdented = "indent it as far as the keys that it belongs to: none above begins in this column"
	for _, test := range []struct{ name, src, at, hint string }{
		{"no end of double quotes", "a:\n  b: \"c\n  d: 1\n", "2:6", noEnd + `has no other "`},
		{"no end of single quotes", "a: {b: 'c, d: 1}\n", "1:8", noEnd + "has no other '"},
		{"no end in the last byte", "a: \"", "1:4", noEnd + `has no other "`},
		{"no end of a key", "a:\n  'b: 1\n", "2:3", noEnd + "has no other '"},
		{"the end of another text", "a: \"b\nc: 1\nd: \"e\"\n", "1:4", noEnd + `goes on to the next ", in line 3`},
		{"the end of another text, between brackets", "a: {b: 'c, d: 1}\ne: {f: 'g'}\n", "1:8", noEnd + "goes on to the next ', in line 2"},
		{"quotes in double quotes", "a:\n  b: \"x\" # \"\n  c: \"say \"hi\"\"\n", "3:11", `write \" for a quote in the text: it ends here`},
		{"an apostrophe in single quotes", "a: 'it''s the user's'\nb: 1\n", "1:19", "write '' for a quote in the text: it ends here"},
		{"an apostrophe elsewhere", "a: the user's\n b: 'c'\nd: 1\n", "2:2", outdented},
		{"an escape of a regular expression", `a: "\t\d+"`, "1:7", `write \\ for a backslash, or put the text in single quotes`},
		{"an escape of JSON", "a:\n- \"\\\r\n  b\\/\"", "3:4", "write / without the backslash"},
		{"indented too far", "a:\n  b: 1\n   c: 2\n", "3:4", outdented},
		{"not far enough", "a:\n  b:\n    c: 1\n   d: 2\n", "4:4", outdented},
		{"not beside the key of an item", "a:\n  - b: 1\n   c: 2\n", "3:4", outdented},
		{"a brace too many in an item", "a:\n  - b: 1\n    c: {}}\n", "3:5", ""},
		{"a brace too many below a key", "a:\n  b: {}}\n", "2:3", ""},
		{"no colon", "a:\n  b\n    c: 1\n", "3:5", "write b: in line 2 if that is a key"},
		{"no colon in the last key", "a: 1\nb\n", "2:1", "write a colon if this is a key; a text is indented deeper than its key"},
		{"tab after a dash", "a:\n  -\tb: c\n", "2:3", "write a space after the dash; YAML allows no tab there"},
		{"a control character", "a: b\nc: d\x07", "2:5", "remove it, or write an escape in double quotes"},
		{"a control character of two bytes", "a: b\nc: \u0085d\u009b", "2:7", "remove it, or write an escape in double quotes"},
	} {
		_, ds := ParseYAML("f", []byte(test.src))
		if len(ds) != 1 || !strings.HasPrefix(ds.Error(), "f:"+test.at+": error[syntax]: not YAML: ") || ds[0].Hint != test.hint {
			t.Errorf("%s: %v, want it at %s with %q", test.name, ds, test.at, test.hint)
		}
	}
}
