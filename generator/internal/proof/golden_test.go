package proof_test

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/mcpkiln/mcpkiln/generator/internal/proof"
	"github.com/mcpkiln/mcpkiln/schema"
)

// TestVAL05GoldensAgreeWithTheReference holds the schemas of the emitter's goldens, one for each feature, against the
// reference as random ones are.
func TestVAL05GoldensAgreeWithTheReference(t *testing.T) {
	e := &experiment{}
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range e.goldens(t) {
		e.vary(r, s, 160)
	}
	e.run(t)
}

// FuzzVAL05GoldensAgreeWithTheReference lets the fuzzer write the instances, whose traces in the reference guide it.
func FuzzVAL05GoldensAgreeWithTheReference(f *testing.F) {
	e := &experiment{}
	all := e.goldens(f)
	program := build(f, &e.batch)
	r := rand.New(rand.NewPCG(2, 2))
	for i, s := range all {
		e.vary(r, s, 4)
		for _, q := range e.questions[4*i:] {
			f.Add(uint8(i), q.Instance)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, text []byte) {
		s := all[int(i)%len(all)]
		instance, ds := schema.ParseJSON("instance.json", text)
		if ds.HasErrors() || outsized(instance) {
			return
		}
		a := ask(t, program, []proof.Question{{Schema: s.number, Instance: instance.JSON()}})[0]
		if a.Refused != "" {
			return // for a limit (VAL07)
		}
		if what := compare(s, instance, a); what != "" {
			t.Error(finding(s.doc.Root, instance, s.keep, what))
		}
	})
}

// outsized reports whether an instance has a number whose exponent makes the reference panic.
func outsized(n *schema.Node) bool {
	found := false
	n.Walk(func(n *schema.Node) bool {
		found = found || n.Kind == schema.Number && rat(n) == nil
		return true
	})
	return found
}

// officialOnly are goldens that the reference does not support: the official suite tests them.
var officialOnly = map[string]string{
	"metaschema.txtar": "it refers to a definition that the official meta-schema has in another document",
	"dynamicref.txtar": "the reference counts the anchors of embedded resources as those of the resources around them",
}

// goldens adds the schemas of the emitter's goldens.
func (e *experiment) goldens(t testing.TB) []*specimen {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "emit", "testdata", "golden", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	var all []*specimen
	for _, path := range paths {
		if officialOnly[filepath.Base(path)] != "" {
			continue
		}
		a, err := txtar.ParseFile(path)
		if err != nil || len(a.Files) == 0 {
			t.Fatalf("%s: no archive with a schema: %v", path, err)
		}
		n, ds := schema.Parse(a.Files[0].Name, a.Files[0].Data) // some are YAML
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		s, why := e.admit(t, n.JSON(), bytes.Contains(a.Comment, []byte("(protocol document)")))
		if s == nil {
			t.Fatalf("%s is refused: %s", path, why)
		}
		all = append(all, s)
	}
	return all
}
