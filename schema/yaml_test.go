package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseYAMLKeepsPlaces(t *testing.T) {
	const src = "\uFEFFname: \"é\"\n\"ü\": {k: &a {z: 1}, l: *a}\r\nlist:\n  - x: |\n      two\n      lines\n  - 日本: y\n"
	n, ds := ParseYAML("f.yaml", []byte(src))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	for pointer, want := range map[string]string{
		"":           "f.yaml:1:1",
		"/name":      "f.yaml:1:7",
		"/ü/k":       "f.yaml:2:11",
		"/ü/l/z":     "f.yaml:2:18",
		"/list/0/x":  "f.yaml:4:8",
		"/list/1/日本": "f.yaml:7:13",
	} {
		if v := n.Lookup(pointer); v == nil || v.Pos.String() != want || v.Pointer != pointer {
			t.Errorf("%s: %+v, want it at %s", pointer, v, want)
		}
	}
	if got, want := string(n.JSON()), `{"name":"é","ü":{"k":{"z":1},"l":{"z":1}},"list":[{"x":"two\nlines\n"},{"日本":"y"}]}`; got != want {
		t.Errorf("JSON() = %s, want %s", got, want)
	}
}

func TestParseYAMLSaysHowScalarsWereWritten(t *testing.T) {
	n, ds := ParseYAML("", []byte("[2026-07-28, \"2026-07-28\", 1.0, '1.0', !!str 1.0, ~, yes, True, 1_0x, 1e400, -1e6000, \"1e400\", !!str 1e400]"))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	want := []struct {
		kind  Kind
		text  string
		plain bool
	}{
		{String, "2026-07-28", true}, {String, "2026-07-28", false}, {Number, "1.0", true}, {String, "1.0", false},
		{String, "1.0", false}, {Null, "", true}, {String, "yes", true}, {Bool, "true", true}, {String, "1_0x", true},
		{Number, "1e400", true}, {Number, "-1e6000", true}, {String, "1e400", false}, {String, "1e400", false},
	}
	for i, item := range n.Items {
		if w := want[i]; item.Kind != w.kind || item.Text != w.text || item.Plain != w.plain {
			t.Errorf("item %d: %s %q plain=%t, want %+v", i, item.Kind, item.Text, item.Plain, w)
		}
	}
	if !n.Items[0].Date || n.Items[1].Date {
		t.Errorf("date: %t and %t", n.Items[0].Date, n.Items[1].Date)
	}
}

func TestParseYAMLMerge(t *testing.T) {
	n, ds := ParseYAML("", []byte("a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc:\n  <<: [*a, *b]\n  x: 9\nd: {<<: 3}\n"))
	if got := string(n.Get("c").JSON()); got != `{"x":9,"y":2,"z":4}` {
		t.Errorf("merged to %s", got)
	}
	if len(ds) != 1 || ds[0].Code != "yaml-merge" || ds[0].Pos.Line != 6 {
		t.Errorf("diagnostics %v", ds)
	}
}

func TestVAL07AliasesAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 9 {
		ref := "*a" + string(rune('0'+i))
		b.WriteString("a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" + strings.Repeat(ref+",", 9) + ref + "]\n")
	}
	n, ds := ParseYAML("bomb.yaml", []byte(b.String()))
	if n != nil || len(ds) != 1 || ds[0].Code != "yaml-alias" {
		t.Errorf("diagnostics %v", ds)
	}
}

func TestVAL07ParseYAMLRefuses(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"bad bytes", "a: \xff", "f:1:4: error[invalid-utf8]: byte 0xff is not UTF-8; save the file as UTF-8"},
		{"too deep", strings.Repeat("[", 300) + strings.Repeat("]", 300), "f:1:258: error[too-deep]: nested deeper than 256 levels"},
		{"second document broken", "a: 1\n---\nb: [", "f:3:1: error[syntax]: not YAML: did not find expected node content"},
		{"scanner", "a: b: c", "f:1:5: error[syntax]: not YAML: mapping values are not allowed in this context; quote the text: YAML takes what is before a colon for a key"},
		{"half a character", `a: {"b": "x", "c": "caf\u00e9 \ud83d\uDE00"}`,
			`f:1:31: error[syntax]: not YAML: found invalid Unicode character escape code; write 😀 or \U0001F600: YAML, unlike JSON, has no pairs of escapes`},
		{"half a character on a later line", "a:\n  \"x\n  \\ud83d\\ude00\"",
			`f:3:3: error[syntax]: not YAML: found invalid Unicode character escape code; write 😀 or \U0001F600: YAML, unlike JSON, has no pairs of escapes`},
		{"half alone, and a pair in a comment", "a: \"x\\ud83d\"\n# in JSON: \\ud83d\\ude00",
			`f:1:6: error[syntax]: not YAML: found invalid Unicode character escape code; write a whole character: half of a surrogate pair is none`},
		{"half alone, and a pair in single quotes", `{a: 'it''s "\ud83d\ude00"', b: don't, c: "\ude00\ud83d", d: "\ud83d\ude00"}`,
			`f:1:43: error[syntax]: not YAML: found invalid Unicode character escape code; write a whole character: half of a surrogate pair is none`},
		{"an escaped backslash before a pair", `a: "\"\\\ud83d\ude00"`,
			`f:1:9: error[syntax]: not YAML: found invalid Unicode character escape code; write 😀 or \U0001F600: YAML, unlike JSON, has no pairs of escapes`},
		{"half by eight digits", `a: "\\ud83d \U0000D83D"`,
			`f:1:13: error[syntax]: not YAML: found invalid Unicode character escape code; write a whole character: half of a surrogate pair is none`},
		{"above the last character", `a: "\U0010FFFF\U00110000"`,
			`f:1:15: error[syntax]: not YAML: found invalid Unicode character escape code; write an escape of a character: the last one is \U0010FFFF`},
		{"tab after a value", "a: d\n\tb: 1", "f:2:2: error[syntax]: not YAML: found a tab character that violates indentation; indent with spaces; YAML allows no tabs there"},
		{"tab after spaces", "a:\n  b: d\r\n \tc: 1", "f:3:3: error[syntax]: not YAML: found a tab character that violates indentation; indent with spaces; YAML allows no tabs there"},
		{"tab in a text that may have tabs", "a:\n  b: d\n   \te\n\tc: 1\n\td: 1", "f:4:2: error[syntax]: not YAML: found a tab character that violates indentation; indent with spaces; YAML allows no tabs there"},
		{"tab in a block", "a: |\n\n\tb", "f:3:2: error[syntax]: not YAML: found a tab character where an indentation space is expected; indent with spaces; YAML allows no tabs there"},
		{"end of flow", "a: 1\nb: [1,\n2", "f:2:1: error[syntax]: not YAML: did not find expected ',' or ']'"},
	} {
		_, ds := ParseYAML("f", []byte(test.src))
		if got := ds.Error(); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func FuzzParseYAML(f *testing.F) {
	for _, seed := range []string{"a: &a [*a]", "? [a]\n: b", "<<: {a: 1}", "a: 2026-07-28\nb: 0x1F\nc: !!binary aGk=", "a: |\n  b\r\n\u2028c: d", "\uFEFFa: 1\n---\nb: 2", "- - - -\t", "{a: *b}", "%YAML 1.1\n---\n!!set {a}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, ds := ParseYAML("f.yaml", data)
		for _, d := range ds {
			_ = d.Render(data)
		}
		switch {
		case n == nil && !ds.HasErrors():
			t.Fatal("refused without a diagnostic")
		case n != nil && !json.Valid(n.JSON()):
			t.Fatalf("no JSON: %s", n.JSON())
		}
	})
}
