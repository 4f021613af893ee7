//go:build official

package proof_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

var shared = flag.String("shared", "", "folder with schema/REVISION/schema.json as published, and examples")

// TestOfficialVAL04ExamplesSurviveTheRoundTrip decodes every example message with the types of the published and of the
// embedded document: it is valid, and what is written again is the same JSON. Mutants of it are valid
// where the reference says so.
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
		if what := compare(s, e.instances[i], a); what != "" {
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

// elsewhere are the optional parts that are decided otherwise, and why.
var elsewhere = map[string]string{
	"ecmascript-regex.json":           "regular expressions are RE2's",
	"format-assertion.json":           "needs meta-schemas of its own",
	"content.json":                    "contents are annotations",
	"cross-draft.json":                "needs schemas of other drafts",
	"dependencies-compatibility.json": "no keyword of 2020-12",
}

// TestVAL04NewestSuite runs the suite as it is published now, with its optional parts.
func TestVAL04NewestSuite(t *testing.T) {
	for _, draft := range []struct {
		name, folder string
		dialect      schema.Dialect
	}{{"2020-12", "draft2020-12", schema.Draft2020}, {"draft-07", "draft7", schema.Draft7}} {
		base := filepath.Join(*newest, "tests", draft.folder)
		for _, part := range []struct{ name, pattern string }{
			{"required", "*.json"}, {"optional", "optional/*.json"}, {"optional format", "optional/format/*.json"},
		} {
			t.Run(draft.name+" "+part.name, func(t *testing.T) {
				s := newSuite(draft.dialect)
				if part.name != "required" {
					s.elsewhere = elsewhere
				}
				s.files(t, filepath.Join(base, part.pattern), 5)
				s.run(t)
				s.report(t, draft.name+" "+part.name)
				if part.name != "required" {
					s.reportFiles(t)
				}
			})
		}
	}
}

// reportFiles says how far each file is.
func (s *suite) reportFiles(t *testing.T) {
	var b strings.Builder
	for _, file := range slices.Sorted(maps.Keys(s.tallies)) {
		one := s.tallies[file]
		fmt.Fprintf(&b, "\n  %-27s %3d of %3d", strings.TrimSuffix(file, ".json"), one.passed, one.all)
		if why := s.elsewhere[file]; why != "" {
			fmt.Fprintf(&b, "  decided otherwise: %s", why)
		}
	}
	t.Log(b.String())
}
