package proof_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/mcpkiln/mcpkiln/schema"
)

// TestVAL05FindingsStayMended holds generated code to what random schemas once showed to be wrong, with unknown properties
// kept and without. Each archive is a schema and lines of instances: valid or invalid, a blank, JSON. The reference
// validator has to agree with the lines.
func TestVAL05FindingsStayMended(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "findings", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no findings: %v", err)
	}
	e := &experiment{}
	var expected []bool
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil || len(a.Files) != 2 || len(a.Comment) == 0 {
			t.Fatalf("%s: want a comment, schema.json and instances: %v", path, err)
		}
		e.dialect = schema.Draft2020 // unless the schema says otherwise
		for _, keep := range []bool{true, false} {
			s, why := e.admit(t, a.Files[0].Data, keep)
			if s == nil {
				t.Fatalf("%s is refused: %s", path, why)
			}
			expected = append(expected, e.lines(t, s, a.Files[1])...)
		}
	}
	e.expect(t, expected)
}

// lines puts the instances of a finding and returns which of them are valid.
func (e *experiment) lines(t *testing.T, s *specimen, f txtar.File) (valid []bool) {
	t.Helper()
	for line := range strings.Lines(string(f.Data)) {
		word, instance, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word != "valid" && word != "invalid" {
			t.Fatalf("%s: %q is neither valid nor invalid", s.doc.Root.JSON(), line)
		}
		e.put(s, parse(t, f.Name, []byte(instance)))
		valid = append(valid, word == "valid")
	}
	return valid
}

// expect asks everything and holds the reference, too, to the expected verdicts.
func (e *experiment) expect(t *testing.T, expected []bool) {
	for i, a := range ask(t, build(t, &e.batch), e.questions) {
		s, n := e.of[i], e.instances[i]
		if agreed := s.reference.Validate(n.Value()) == nil; agreed != expected[i] {
			t.Errorf("the reference does not agree\nschema %s\ninstance %s", s.doc.Root.JSON(), n.JSON())
		}
		if what := compare(s, n, a); what != "" && !a.Dropped {
			t.Error(finding(s.doc.Root, n, s.keep, what))
		}
		if a.Unstable != "" && !s.fills { // compare forgives what float64 makes of a number
			t.Error(finding(s.doc.Root, n, s.keep, "out "+a.Out+"\n"+a.Unstable))
		}
	}
}
