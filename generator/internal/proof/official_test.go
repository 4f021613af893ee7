//go:build official

package proof_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

var shared = flag.String("shared", "", "folder with schema/REVISION/schema.json as published, and examples")

// TestOfficialVAL04ExamplesSurviveTheRoundTrip decodes every example message with the types of the published and of the
// embedded document: it is valid, and what is written again is the same JSON. What becomes of it by small changes is
// judged as the reference judges it.
func TestOfficialVAL04ExamplesSurviveTheRoundTrip(t *testing.T) {
	base := filepath.Join(*shared, "schema", "2026-07-28")
	files, err := filepath.Glob(filepath.Join(base, "examples", "*", "*.json"))
	if err != nil || len(files) != 129 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	e := &experiment{}
	r := rand.New(rand.NewPCG(1, 129))
	originals := map[int]string{}
	for _, doc := range []*schema.Document{published(t, filepath.Join(base, "schema.json")), embedded(t)} {
		p := newProtocol(t, doc)
		known := map[string]*specimen{}
		for _, file := range files {
			name := filepath.Base(filepath.Dir(file))
			if known[name] == nil {
				known[name] = e.definition(t, p, name)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n := parse(t, file, data)
			originals[len(e.questions)] = file
			e.put(known[name], n)
			for range 20 {
				e.put(known[name], mutant(r, n))
			}
		}
	}
	e.examples(t, originals)
}

// examples asks everything; the originals have to be valid.
func (e *experiment) examples(t *testing.T, originals map[int]string) {
	for i, a := range ask(t, build(t, &e.batch), e.questions) {
		s := e.of[i]
		if file, ok := originals[i]; ok && !a.Valid() {
			t.Errorf("%s: %s", file, verdict(a))
		}
		if what := judge(s, e.instances[i], a); what != "" {
			t.Error(finding(s.node, e.instances[i], true, what))
		}
	}
	t.Logf("%d examples valid and written again as they were; %d changed ones judged", len(originals), len(e.questions)-len(originals))
}

func published(t *testing.T, file string) *schema.Document {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc, ds := document(t, parse(t, file, data), schema.Draft2020)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return doc
}

func embedded(t *testing.T) *schema.Document {
	rev, ds := revision.Load("2026-07-28")
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return rev.Documents[0].Document
}

var newest = flag.String("suite", "", "a checkout of the official JSON Schema test suite")

// foreignFiles are the optional parts that are decided otherwise: regular expressions beyond RE2, formats that only a
// meta-schema elsewhere asserts, contents that nothing decodes, keywords and schemas of other drafts.
var foreignFiles = []string{
	"ecmascript-regex.json", "format-assertion.json", "content.json", "cross-draft.json", "dependencies-compatibility.json",
}

// TestVAL04NewestSuite runs the suite as it is published now, with its optional parts. Wrong verdicts are errors;
// how much generates is for the tests that run everywhere.
func TestVAL04NewestSuite(t *testing.T) {
	for _, draft := range []struct {
		folder  string
		dialect schema.Dialect
	}{{"draft2020-12", schema.Draft2020}, {"draft7", schema.Draft7}} {
		base := filepath.Join(*newest, "tests", draft.folder)
		for part, pattern := range map[string]string{"required": "*.json", "optional": "optional/*.json", "formats": "optional/format/*.json"} {
			t.Run(draft.folder+" "+part, func(t *testing.T) {
				s := newSuite(draft.dialect)
				if part != "required" {
					s.without = foreignFiles
				}
				s.files(t, filepath.Join(base, pattern), 5)
				s.run(t)
				s.report(t, draft.folder+" "+part)
			})
		}
	}
}
