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

// passed is how many tests of each draft there are, so that none can be skipped unnoticed.
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
	if sum := s.sum(); sum.passed != passed[dialect] {
		t.Errorf("%d tests pass, %d did before", sum.passed, passed[dialect])
	}
}

func newSuite(dialect schema.Dialect) *suite {
	return &suite{dialect: dialect, tallies: map[string]*tally{}, refused: map[string]int{}}
}

// files adds the files of a pattern, of which there are at least so many.
func (s *suite) files(t *testing.T, pattern string, least int) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < least {
		t.Fatalf("%d files like %s: %v", len(files), pattern, err)
	}
	for _, file := range files {
		s.add(t, file)
	}
}

// suite is the official tests of one draft.
type suite struct {
	dialect   schema.Dialect
	elsewhere map[string]string // why a file is judged otherwise: its tests are counted, and may fail
	batch     proof.Batch
	tests     []suiteTest
	questions []proof.Question

	tallies map[string]*tally // by file
	refused map[string]int    // tests whose schema does not generate, by reason
}

// tally counts tests.
type tally struct {
	all, passed int
	bounded     int // of those that passed: with bounds that ask for integers beyond int64
	remote      int // beside all: those that need another document, whose schema has to be refused
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
	name := filepath.Base(file)
	s.tallies[name] = new(tally)
	for _, group := range parse(t, name, data).Items {
		s.group(t, name, group)
	}
}

func (s *suite) group(t *testing.T, file string, group *schema.Node) {
	about := group.Get("description").Text
	root := parse(t, fileOf(&s.batch), group.Get("schema").JSON())
	doc, ds := document(t, root, s.dialect)
	tests := group.Get("tests").Items
	if beyond(s.dialect, doc) {
		s.tallies[file].remote += len(tests)
		s.beyond(t, file+": "+about, doc, ds)
		return
	}
	s.tallies[file].all += len(tests)
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
func (s *suite) beyond(t *testing.T, about string, doc *schema.Document, ds schema.Diagnostics) {
	ds = append(ds, doc.Lint()...)
	right := func(d schema.Diagnostic) bool {
		return d.Severity == schema.Error && (d.Code == "remote-ref" || d.Code == "unknown-dialect")
	}
	if !slices.ContainsFunc(ds, right) {
		t.Errorf("%s: needs another document and is not refused for it: %v\n%s", about, ds, doc.Root.JSON())
	}
}

// run asks for all verdicts. Each wrong one is an error.
func (s *suite) run(t *testing.T) {
	var large []int
	for i, a := range ask(t, build(t, &s.batch), s.questions) {
		switch test := s.tests[i]; {
		case a.Dropped:
		case a.Valid() == test.valid:
			s.tallies[test.file].passed++
		case test.valid && beyondGo(a):
			large = append(large, i)
		case s.elsewhere[test.file] == "":
			s.wrong(t, i, a)
		}
	}
	s.bound(t, large)
}

// bound asks again about integers beyond int64, which is what an integer becomes whose schema does not say how large it may
// be. The same schemas with bounds beyond int64 have to take them.
func (s *suite) bound(t *testing.T, large []int) {
	var batch proof.Batch
	var questions []proof.Question
	for _, i := range large {
		doc, _ := document(t, wide(s.tests[i].schema), s.dialect)
		number, ds, err := batch.Add(proof.Schema{Document: doc, Keep: true})
		if err != nil || ds.HasErrors() {
			t.Fatalf("%v%v\nschema %s", err, ds, doc.Root.JSON())
		}
		questions = append(questions, proof.Question{Schema: number, Instance: s.questions[i].Instance})
	}
	if questions == nil {
		return
	}
	for k, a := range ask(t, build(t, &batch), questions) {
		test := s.tests[large[k]]
		if !a.Valid() {
			s.wrong(t, large[k], a)
			continue
		}
		s.tallies[test.file].passed++
		s.tallies[test.file].bounded++
	}
}

// wide returns a schema with bounds beyond float64.
func wide(root *schema.Node) *schema.Node {
	c := *root
	c.Members = append(slices.Clone(root.Members), schema.Member{Key: "minimum", Value: number("-1e400")}, schema.Member{Key: "maximum", Value: number("1e400")})
	return &c
}

func (s *suite) wrong(t *testing.T, i int, a proof.Answer) {
	t.Helper()
	test := s.tests[i]
	t.Errorf("%s: %s: %s\nschema   %s\ninstance %s\nis valid: %t, generated code says: %s", test.file, test.group, test.about,
		test.schema.JSON(), s.questions[i].Instance, test.valid, verdict(a))
}

func verdict(a proof.Answer) string {
	if a.Valid() {
		return "valid"
	}
	return strings.TrimSpace(a.Invalid + " " + a.Refused)
}

// sum is the tally of the files whose tests have to pass.
func (s *suite) sum() tally {
	var sum tally
	for file, one := range s.tallies {
		sum.remote += one.remote
		if s.elsewhere[file] == "" {
			sum.all, sum.passed, sum.bounded = sum.all+one.all, sum.passed+one.passed, sum.bounded+one.bounded
		}
	}
	return sum
}

// report says how far it is; a test that did not pass for whatever reason is an error.
func (s *suite) report(t *testing.T, name string) {
	sum := s.sum()
	var b strings.Builder
	fmt.Fprintf(&b, "suite %s: %d of %d", name, sum.passed, sum.all)
	if sum.bounded > 0 {
		fmt.Fprintf(&b, ", %d of them with bounds that ask for integers beyond int64", sum.bounded)
	}
	for _, keyword := range slices.Sorted(maps.Keys(s.refused)) {
		fmt.Fprintf(&b, "\n  not generated: %3d tests for %s", s.refused[keyword], keyword)
	}
	fmt.Fprintf(&b, "\nremote: refused %d", sum.remote)
	t.Log(b.String())
	if sum.passed < sum.all {
		t.Errorf("%d tests did not pass", sum.all-sum.passed)
	}
}
