package proof_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/mcpkiln/mcpkiln/generator/internal/proof"
	"github.com/mcpkiln/mcpkiln/schema"
)

var update = flag.Bool("update", false, "rewrite the violations of testdata/unions")

// TestVAL10UnionsSayWhatIsWrong holds what generated code says of values that fit no form of a union to testdata/unions: a schema
// and instances, each followed by its violations.
func TestVAL10UnionsSayWhatIsWrong(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "unions", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no schemas: %v", err)
	}
	e := &experiment{dialect: schema.Draft2020}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil || len(a.Files) != 2 || len(a.Comment) == 0 {
			t.Fatalf("%s: want a comment, schema.json and violations: %v", path, err)
		}
		s, why := e.admit(t, a.Files[0].Data, false)
		if s == nil {
			t.Fatalf("%s is refused: %s", path, why)
		}
		var questions []proof.Question
		for line := range strings.Lines(string(a.Files[1].Data)) {
			if !strings.HasPrefix(line, " ") {
				questions = append(questions, proof.Question{Schema: s.number, Instance: []byte(strings.TrimSpace(line))})
			}
		}
		e.questions = append(e.questions, questions...)
	}
	answers := ask(t, build(t, &e.batch), e.questions)
	for i, path := range paths {
		a, _ := txtar.ParseFile(path)
		var got bytes.Buffer
		for j, q := range e.questions {
			if q.Schema == i {
				fmt.Fprintf(&got, "%s\n", q.Instance)
				for line := range strings.Lines(answers[j].Invalid) {
					fmt.Fprintf(&got, "   %s\n", strings.TrimSuffix(line, "\n"))
				}
			}
		}
		if *update {
			a.Files[1].Data = got.Bytes()
			if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if got.String() != string(a.Files[1].Data) {
			t.Errorf("%s differs; got:\n%s", path, got.String())
		}
	}
}
