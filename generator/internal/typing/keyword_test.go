package typing

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check/format"
	"github.com/mcpkiln/mcpkiln/schema"
)

// TestVAL03EveryKeywordHasAGolden: no row of the table is there for nothing, none is without proof, and none is neither
// enforced nor noted.
func TestVAL03EveryKeywordHasAGolden(t *testing.T) {
	accepted := texts(t, "golden")
	warned, err := os.ReadFile("../../../schema/manifest/testdata/accepted/val03-idle-keywords.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range keywordTable {
		if k.read == nil && !k.noRule {
			t.Errorf("%s is dropped", name)
		}
		if !strings.Contains(accepted, `"`+name+`":`) && !strings.Contains(string(warned), "warning[idle-keyword]: "+name+" ") {
			t.Errorf("%s is in no golden", name)
		}
	}
}

// notAsserting are the keywords that say nothing of values by themselves, and why.
var notAsserting = map[string]string{
	"$schema": "the dialect", "$vocabulary": "the dialect", "$comment": "for readers",
	"$id": "where references lead", "$anchor": "where references lead", "$dynamicAnchor": "where references lead",
	"$defs": "what references lead to", "definitions": "what references lead to",
	"$recursiveRef": "of 2019-09", "$recursiveAnchor": "of 2019-09",
	"examples": "for readers", "readOnly": "for readers", "writeOnly": "for readers",
	"contentEncoding": "an annotation in both drafts", "contentMediaType": "an annotation in both drafts", "contentSchema": "an annotation in 2020-12",
	"then": "read with if", "else": "read with if", "additionalItems": "read with items",
	"minContains": "read with contains", "maxContains": "read with contains",
	"goName": "a name in Go", "goType": "a type in Go",
}

// TestVAL03EveryKeywordIsRead: what package schema takes for a keyword has a row here. Without one it would be an annotation that nobody
// decided on.
func TestVAL03EveryKeywordIsRead(t *testing.T) {
	table, known := keywordTable, schema.Keywords()
	for _, word := range known {
		k, ok := table[word]
		if !ok {
			t.Errorf("%s has no row: it would silently be an annotation", word)
		} else if k.noRule != (notAsserting[word] != "") {
			t.Errorf("%s: annotation %t, but: %q", word, k.noRule, notAsserting[word])
		}
	}
	for word := range table {
		if !slices.Contains(known, word) {
			t.Errorf("%s has a row and is no keyword", word)
		}
	}
}

// TestVAL03EachDialectHasItsKeywords: the documents of the dialects say which keywords they have.
func TestVAL03EachDialectHasItsKeywords(t *testing.T) {
	table := keywordTable
	replaced := []string{"dependencies", "$recursiveRef", "$recursiveAnchor"} // in 2020-12, whose document still describes them
	for dialect, file := range map[schema.Dialect]string{schema.Draft2020: "2020-12", schema.Draft7: "draft-07"} {
		text, err := os.ReadFile("../../../schema/dialect/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var document struct{ Properties map[string]any }
		if err := json.Unmarshal(text, &document); err != nil || len(document.Properties) < 40 {
			t.Fatalf("%s has %d keywords: %v", file, len(document.Properties), err)
		}
		for word := range document.Properties {
			if k, ok := table[word]; !ok || !k.appliesIn(dialect) && !slices.Contains(replaced, word) {
				t.Errorf("%s is a keyword of %s and has no row for it", word, file)
			}
		}
		for word, k := range table {
			if _, ok := document.Properties[word]; !ok && k.only != inBoth && k.appliesIn(dialect) {
				t.Errorf("%s has a row for %s, which does not have it", word, file)
			}
		}
	}
}

// TestFormatsHaveGoldens: formats that are asserted are those that the runtime has.
func TestFormatsHaveGoldens(t *testing.T) {
	text := texts(t, "golden")
	for _, name := range schema.Formats {
		if !strings.Contains(text, `"format": "`+name+`"`) {
			t.Errorf("format %s is in no golden", name)
		}
		if format.Named(name) == format.None {
			t.Errorf("format %s is not known at run time", name)
		}
	}
}

func texts(t *testing.T, dir string) string {
	t.Helper()
	paths, err := filepath.Glob("../emit/testdata/" + dir + "/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives in %s: %v", dir, err)
	}
	var all strings.Builder
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}
