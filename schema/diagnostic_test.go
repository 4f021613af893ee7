package schema

import (
	"strings"
	"testing"
)

func TestDiagnosticsSortByPlaceAndSayThingsOnce(t *testing.T) {
	at := func(file string, line, column int32, code string) Diagnostic {
		return Diagnostic{Pos: Position{file, line, column}, Code: code, Message: "m"}
	}
	ds := Diagnostics{at("b", 1, 1, "x"), at("a", 2, 1, "x"), at("a", 1, 9, "z"), at("a", 1, 9, "y"), at("a", 1, 2, "x"), at("a", 1, 9, "z")}
	ds.Sort()
	want := "a:1:2: error[x]: m\na:1:9: error[y]: m\na:1:9: error[z]: m\na:2:1: error[x]: m\nb:1:1: error[x]: m"
	if got := ds.Error(); got != want {
		t.Errorf("sorted\n%s\nwant\n%s", got, want)
	}
}

func TestWarningsAreNoError(t *testing.T) {
	ds := Diagnostics{{Severity: Warning, Code: "w", Message: "m", Pos: Position{File: "f"}, Hint: "h"}}
	if ds.HasErrors() || ds.Err() != nil {
		t.Error("a warning counts as an error")
	}
	if got := ds.Error(); got != "f: warning[w]: m; h" {
		t.Errorf("said %q", got)
	}
}

func TestRenderPutsTheCaretUnderTheColumn(t *testing.T) {
	for _, test := range []struct {
		name, line string
		column     int
		want       string
	}{
		{"plain", "abc", 2, "  abc\n   ^"},
		{"tabs", "\ta\tb", 4, "  \ta\tb\n  \t \t^"},
		{"two bytes", "é: x", 5, "  é: x\n     ^"},
		{"wide", "日本: x", 9, "  日本: x\n        ^"},
		{"combining", "e\u0301x", 4, "  e\u0301x\n   ^"},
		{"behind the end", "ab", 3, "  ab\n    ^"},
		{"far behind the end", "ab", 99, "  ab\n    ^"},
		{"hostile", "a\x1b[31m\u202eb", 1, "  a\uFFFD[31m\uFFFDb\n  ^"},
		{"carriage return", "ab\r", 1, "  ab\n  ^"},
	} {
		d := Diagnostic{Pos: Position{"f", 2, int32(test.column)}, Code: "c", Message: "m"}
		got := strings.TrimPrefix(d.Render([]byte("first\n"+test.line+"\nlast")), d.String()+"\n")
		if got != test.want {
			t.Errorf("%s:\n%q, want\n%q", test.name, got, test.want)
		}
	}
}

func TestRenderCutsLongLines(t *testing.T) {
	line := strings.Repeat("é", 200) + "X" + strings.Repeat("é", 200)
	got := Diagnostic{Pos: Position{"f", 1, 401}}.Render([]byte(line))
	lines := strings.Split(got, "\n")
	caret := strings.Index(lines[2], "^")
	if shown := []rune(lines[1]); len(shown) > 130 || shown[caret] != 'X' || strings.Count(lines[1], "…") != 2 || !strings.HasPrefix(lines[1], "  …") || !strings.HasSuffix(lines[1], "…") {
		t.Errorf("rendered\n%s", got)
	}
}

func TestRenderWithoutSource(t *testing.T) {
	for _, pos := range []Position{{}, {File: "f"}, {"f", 9, 1}, {"f", 1, 0}} {
		d := Diagnostic{Pos: pos, Code: "c", Message: "m"}
		if got := d.Render([]byte("text")); got != d.String() {
			t.Errorf("%v: %q", pos, got)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	known := []string{"properties", "type", "items", "if", "ttl", "maxTtl", "additionalProperties"}
	for word, want := range map[string]string{
		"propertes": "properties", "Properties": "properties", "tpye": "type", "tipe": "type", "item": "items", "tll": "ttl", "maxTTL": "maxTtl",
		"aditionalPropertys": "", "additionlProperties": "additionalProperties", "f": "", "xyz": "", "": "", "typical": "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := DidYouMean("tpye", known); got != `did you mean "type"?` {
		t.Error(got)
	}
}
