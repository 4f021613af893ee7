package proof_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcpkiln/mcpkiln/generator/internal/proof"
	"github.com/mcpkiln/mcpkiln/schema"
)

func TestMain(m *testing.M) {
	borrowFormats()
	goleak.VerifyTestMain(m)
}

// build compiles a batch. Schemas whose code does not compile are errors of the test, and dropped from the batch so that
// the others are still tested; ask skips questions about them.
func build(t testing.TB, b *proof.Batch) *proof.Program {
	t.Helper()
	repo, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Build(t.Context(), t.TempDir(), repo)
	var broken *proof.CompileError
	for range 3 {
		if !errors.As(err, &broken) || broken.Guilty == nil {
			break
		}
		t.Error(broken)
		b.Drop(broken.Guilty)
		p, err = b.Build(t.Context(), t.TempDir(), repo)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ask runs a program; the answers are in the order of the questions.
func ask(t testing.TB, p *proof.Program, questions []proof.Question) []proof.Answer {
	t.Helper()
	answers, err := p.Ask(t.Context(), questions)
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// document parses a schema. A draft other than the default is written into it, where parts of the suite leave it out.
func document(t testing.TB, root *schema.Node, dialect schema.Dialect) (*schema.Document, schema.Diagnostics) {
	t.Helper()
	if root.Is(schema.Object) && root.Get("$schema") == nil && dialect != schema.Draft2020 {
		named := *root
		named.Members = append([]schema.Member{{
			Key: "$schema", Value: &schema.Node{Kind: schema.String, Text: dialect.String(), Pointer: root.Pointer + "/$schema"},
		}}, root.Members...)
		root = &named
	}
	return schema.NewDocument(root, nil)
}

func parse(t testing.TB, file string, data []byte) *schema.Node {
	t.Helper()
	n, ds := schema.ParseJSON(file, data)
	if ds.HasErrors() {
		t.Fatalf("%s: %v\n%s", file, ds, data)
	}
	return n
}

// fileOf names the file that the next schema of a batch is said to stand in.
func fileOf(b *proof.Batch) string { return fmt.Sprintf("%d.json", b.Len()) }
