package proof_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/google/jsonschema-go/jsonschema" // its module carries the official suite

	"github.com/mcpkiln/mcpkiln/generator/internal/proof"
	"github.com/mcpkiln/mcpkiln/schema"
)

// passed is the ratchet: how many tests of each draft pass at least, which is all of them.
var passed = map[schema.Dialect]int{schema.Draft2020: 1055, schema.Draft7: 890}

func TestVAL04OfficialSuite202012(t *testing.T) {
	runSuite(t, "2020-12", schema.Draft2020, "draft2020-12")
}
func TestVAL04OfficialSuiteDraft07(t *testing.T) { runSuite(t, "draft-07", schema.Draft7, "draft7") }

func runSuite(t *testing.T, name string, dialect schema.Dialect, folder string) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	s := newSuite(dialect)
	s.files(t, filepath.Join(strings.TrimSpace(string(out)), "jsonschema", "testdata", folder, "*.json"), 30)
	s.run(t)
	s.report(t, name)
	if s.passed < passed[dialect] {
		t.Errorf("%d tests pass, %d did before", s.passed, passed[dialect])
	}
	if s.passed > passed[dialect] {
		t.Logf("raise the ratchet of %s from %d to %d", name, passed[dialect], s.passed)
	}
}

func newSuite(dialect schema.Dialect) *suite {
	return &suite{dialect: dialect, refused: map[string]int{}}
}

// files adds the files of a pattern, of which there are at least so many.
func (s *suite) files(t *testing.T, pattern string, least int) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < least {
		t.Fatalf("%d files like %s: %v", len(files), pattern, err)
	}
	for _, file := range files {
		if !slices.Contains(s.without, filepath.Base(file)) {
			s.add(t, file)
		}
	}
}

// suite is the official tests of one draft.
type suite struct {
	dialect   schema.Dialect
	without   []string // files
	batch     proof.Batch
	tests     []suiteTest
	questions []proof.Question

	all, passed int
	refused     map[string]int // tests whose schema does not generate, by reason
	remote      int            // tests that need another document
	large       int            // tests of numbers that no Go type of ours holds
}

// suiteTest is one instance that was asked about.
type suiteTest struct {
	file, group, about string
	schema             *schema.Node
	valid              bool
}

// add takes the tests of one file.
func (s *suite) add(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range parse(t, filepath.Base(file), data).Items {
		s.group(t, filepath.Base(file), group)
	}
}

func (s *suite) group(t *testing.T, file string, group *schema.Node) {
	about := group.Get("description").Text
	root := parse(t, fileOf(&s.batch), group.Get("schema").JSON())
	doc, ds := document(t, root, s.dialect)
	tests := group.Get("tests").Items
	if beyond(s.dialect, doc) {
		s.beyond(t, file+": "+about, doc, ds, len(tests))
		return
	}
	s.all += len(tests)
	number, ds, err := s.batch.Add(proof.Schema{Document: doc, Keep: true})
	if err != nil {
		t.Errorf("%s: %s: %v\n%s", file, about, err, root.JSON())
		return
	}
	if ds.HasErrors() {
		s.refused[reason(ds)] += len(tests)
		return
	}
	for _, test := range tests {
		s.questions = append(s.questions, proof.Question{Schema: number, Instance: test.Get("data").JSON()})
		of := suiteTest{file, about, test.Get("description").Text, root, test.Get("valid").Text == "true"}
		if strings.Contains(of.about, "only an annotation by default") {
			of.valid = false // generated code asserts formats
		}
		s.tests = append(s.tests, of)
	}
}

// reason is what the tests of a refused schema are listed under.
func reason(ds schema.Diagnostics) string {
	first := slices.IndexFunc(ds, func(d schema.Diagnostic) bool { return d.Severity == schema.Error })
	d := ds[first]
	return d.Code + " (" + d.Message + ")"
}

// beyond reports whether a schema needs other documents than the meta-schemas, as the reference validator sees it.
func beyond(dialect schema.Dialect, doc *schema.Document) bool {
	_, err := reference(dialect, doc.Root.JSON())
	return errors.Is(err, errBeyond)
}

// beyond requires that a schema with a reference to another document is refused for that (VAL06).
func (s *suite) beyond(t *testing.T, about string, doc *schema.Document, ds schema.Diagnostics, tests int) {
	s.remote += tests
	ds = append(ds, doc.Lint()...)
	right := func(d schema.Diagnostic) bool {
		return d.Severity == schema.Error && (d.Code == "remote-ref" || d.Code == "unknown-dialect")
	}
	if !slices.ContainsFunc(ds, right) {
		t.Errorf("%s: needs another document and is not refused for it: %v\n%s", about, ds, doc.Root.JSON())
	}
}

// run asks for all verdicts. Each wrong one is an error, whatever the ratchet says.
func (s *suite) run(t *testing.T) {
	answers := ask(t, build(t, &s.batch), s.questions)
	for i, test := range s.tests {
		switch {
		case answers[i].Dropped:
			continue
		case answers[i].Valid() == test.valid:
			s.passed++
			continue
		case test.valid && beyondGo(answers[i]):
			s.large++
			continue
		}
		t.Errorf("%s: %s: %s\nschema   %s\ninstance %s\nis valid: %t, generated code says: %s", test.file, test.group, test.about,
			test.schema.JSON(), s.questions[i].Instance, test.valid, verdict(answers[i]))
	}
}

func verdict(a proof.Answer) string {
	if a.Valid() {
		return "valid"
	}
	return strings.TrimSpace(a.Invalid + " " + a.Refused)
}

// report says how far it is.
func (s *suite) report(t *testing.T, name string) {
	var b strings.Builder
	fmt.Fprintf(&b, "suite %s: %d of %d\n", name, s.passed, s.all)
	for _, keyword := range slices.Sorted(maps.Keys(s.refused)) {
		fmt.Fprintf(&b, "  not generated: %3d tests for %s\n", s.refused[keyword], keyword)
	}
	fmt.Fprintf(&b, "  open: %d tests are about numbers beyond int64\nremote: refused %d", s.large, s.remote)
	t.Log(b.String())
}
