package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseJSONKeepsOrderTextAndPlaces(t *testing.T) {
	const src = "{ \"b\": [1.50, -0, 1e3,\n\t12345678901234567890], \"a/~\": \"\\u00e9\\ud83d\\ude00\\n\\\"\",\n  \"é\": {\"x\": true, \"y\": null} }"
	n, ds := ParseJSON("f.json", []byte(src))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	if got, want := string(n.JSON()), `{"b":[1.50,-0,1e3,12345678901234567890],"a/~":"é😀\n\"","é":{"x":true,"y":null}}`; got != want {
		t.Errorf("JSON() = %s, want %s", got, want)
	}
	for pointer, want := range map[string]string{
		"":        "f.json:1:1",
		"/b":      "f.json:1:8",
		"/b/3":    "f.json:2:2",
		"/a~1~0":  "f.json:2:32",
		"/é/y":    "f.json:3:26",
		"/é/none": "",
	} {
		got := ""
		if v := n.Lookup(pointer); v != nil {
			got = v.Pos.String()
			if v.Pointer != pointer {
				t.Errorf("value at %s says it is at %s", pointer, v.Pointer)
			}
		}
		if got != want {
			t.Errorf("%s is at %q, want %q", pointer, got, want)
		}
	}
	if got := n.Member("é").KeyPos.String(); got != "f.json:3:3" {
		t.Errorf("key at %s", got)
	}
}

func TestVAL07ParseJSONRefuses(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"nothing", ``, `1:1: error[empty-file]: the file holds no value`},
		{"two values", `1 2`, `1:3: error[syntax]: more text after the end of the JSON value`},
		{"trailing comma", "[1,\n]", `2:1: error[syntax]: ']' instead of a value; remove the comma before it`},
		{"no colon", `{"a" 1}`, `1:6: error[syntax]: '1' instead of a colon`},
		{"no comma", `[1 2]`, `1:4: error[syntax]: '2' instead of a comma or ]`},
		{"bare key", `{a: 1}`, `1:2: error[syntax]: 'a' instead of a key in quotes`},
		{"open array", `[1`, `1:3: error[syntax]: the text ends where a comma or ] should stand`},
		{"open string", `["abc`, `1:2: error[syntax]: the string that starts here does not end`},
		{"open string after escape", `["a\nbc`, `1:2: error[syntax]: the string that starts here does not end`},
		{"control character", "\"a\x01\"", `1:3: error[syntax]: control character 0x01 in a string; write it as an escape such as \n`},
		{"unknown escape", `"\x"`, `1:2: error[syntax]: unknown escape in a string; write a backslash as \\`},
		{"short escape", `"\u12"`, `1:2: error[syntax]: \u needs four hexadecimal digits`},
		{"signed escape", `"\u+123"`, `1:2: error[syntax]: \u needs four hexadecimal digits`},
		{"lone high surrogate", `"\ud83d"`, `1:2: error[invalid-utf8]: half of a surrogate pair is no character`},
		{"lone low surrogate", `"\ude00"`, `1:2: error[invalid-utf8]: half of a surrogate pair is no character`},
		{"wrong pair", `"\ud83d\u0041"`, `1:2: error[invalid-utf8]: half of a surrogate pair is no character`},
		{"bad bytes in string", "\"\xff\"", `1:2: error[invalid-utf8]: byte 0xff is not UTF-8; save the file as UTF-8`},
		{"bad bytes outside", "\xff", `1:1: error[invalid-utf8]: byte 0xff is not UTF-8; save the file as UTF-8`},
		{"encoded surrogate", "\"\xed\xa0\x80\"", `1:2: error[invalid-utf8]: byte 0xed is not UTF-8; save the file as UTF-8`},
		{"leading zero", `01`, `1:1: error[syntax]: 01 is no JSON number`},
		{"bare point", `1.`, `1:1: error[syntax]: 1. is no JSON number`},
		{"bare exponent", `1e`, `1:1: error[syntax]: 1e is no JSON number`},
		{"bare minus", `-`, `1:1: error[syntax]: - is no JSON number`},
		{"half a word", `tru`, `1:1: error[syntax]: 't' instead of a value`},
		{"not a number", `NaN`, `1:1: error[syntax]: 'N' instead of a value`},
		{"too deep", strings.Repeat("[", MaxDepth+2), `1:258: error[too-deep]: nested deeper than 256 levels`},
	} {
		n, ds := ParseJSON("", []byte(test.src))
		if n != nil {
			t.Errorf("%s: a value came out", test.name)
		}
		for i := range ds {
			ds[i].Pos.File = "f"
		}
		if got := ds.Error(); got != "f:"+test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestParseJSONReportsEveryDuplicateKey(t *testing.T) {
	many := strings.Builder{}
	for range 40 {
		many.WriteString(`"k":1,`)
	}
	for src, want := range map[string]int{
		`{"a":1,"b":{"c":1,"c":2},"a":3,"\u0061":4}`: 3,
		`{` + many.String() + `"z":1}`:               39,
	} {
		n, ds := ParseJSON("", []byte(src))
		if n == nil || len(ds) != want {
			t.Errorf("%d diagnostics, want %d", len(ds), want)
		}
	}
	n, _ := ParseJSON("", []byte(`{"a":1,"a":2}`))
	if got := string(n.JSON()); got != `{"a":1}` {
		t.Errorf("kept %s, want the first value", got)
	}
}

func TestParseTakesTheExtensionThenTheFirstByte(t *testing.T) {
	for file, src := range map[string]string{
		"a.json": `{"k":[1]}`, "a.yaml": "k: [1]", "a.YML": "k:\n- 1", "a": "\uFEFF\n {\"k\":[1]}", "b": "k: [1]", "c.yaml": `{"k":[1]}`,
	} {
		n, ds := Parse(file, []byte(src))
		if len(ds) > 0 || string(n.JSON()) != `{"k":[1]}` {
			t.Errorf("%s: %s", file, ds)
		}
	}
}

// What ParseJSON takes, encoding/json takes too and reads as the same value.
func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e-3,"\ud83d\ude00",null,true,false]}`, `[[],{},""]`, "\uFEFF0", `{"a":1,"a":2}`, `"\u2028"`, "\"\x7f\"", `-0.0`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, ds := ParseJSON("f", data)
		text := bytes.TrimPrefix(data, []byte(byteOrderMark))
		if n == nil {
			if !ds.HasErrors() {
				t.Fatal("refused without a diagnostic")
			}
			if ds[0].Code == "syntax" && utf8.Valid(text) && json.Valid(text) {
				t.Fatalf("encoding/json takes it: %s", ds)
			}
			return
		}
		if len(ds) > 0 {
			return // duplicate keys
		}
		if got, want := decodeJSON(t, n.JSON()), decodeJSON(t, text); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(n.Value(), want) {
			t.Fatalf("read as %s", n.JSON())
		}
	})
}

func decodeJSON(t *testing.T, data []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func BenchmarkParseJSON(b *testing.B) {
	data, err := Revisions.ReadFile("2025-11-25/core.json")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if n, _ := ParseJSON("core.json", data); n == nil {
			b.Fatal("refused")
		}
	}
}

func BenchmarkLint(b *testing.B) {
	data, err := Revisions.ReadFile("2025-11-25/core.json")
	if err != nil {
		b.Fatal(err)
	}
	root, _ := ParseJSON("core.json", data)
	b.ReportAllocs()
	for b.Loop() {
		d, _ := NewDocument(root, nil)
		if ds := d.Lint(); ds.HasErrors() {
			b.Fatal(ds)
		}
	}
}
