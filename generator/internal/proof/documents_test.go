package proof_test

import (
	"math/rand/v2"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/mcpkiln/mcpkiln/generator/internal/proof"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// TestVAL05ProtocolDefinitionsAgreeWithTheReference generates every definition of every embedded document, and holds it
// against the reference with instances made of it.
func TestVAL05ProtocolDefinitionsAgreeWithTheReference(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2026))
	e := &experiment{}
	total := 0
	for _, name := range revision.Names() {
		rev, ds := revision.Load(name)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		for _, d := range rev.Documents {
			p := newProtocol(t, d.Document)
			for _, m := range d.Definitions() {
				total++
				e.vary(r, e.definition(t, p, m.Key), 24)
			}
		}
	}
	e.run(t)
	t.Logf("%d definitions generated", total)
}

// protocol is a document of the protocol and the reference's view of it.
type protocol struct {
	doc       *schema.Document
	reference *jsonschema.Compiler
}

func newProtocol(t *testing.T, doc *schema.Document) protocol {
	t.Helper()
	doc.Definitions() // so that all are below Root
	c, err := compiler(doc.Dialect, doc.Root.JSON())
	if err != nil {
		t.Fatal(err)
	}
	return protocol{doc, c}
}

// definition adds a definition, as those of protocols are lowered: unknown properties are kept.
func (e *experiment) definition(t *testing.T, p protocol, name string) *specimen {
	t.Helper()
	node := p.doc.Definition(name)
	number, ds, err := e.batch.Add(proof.Schema{Document: p.doc, Node: node, Keep: true})
	if err != nil || ds.HasErrors() {
		t.Fatalf("%s: %v %v", name, ds, err)
	}
	ref, err := p.reference.Compile(address + "#" + node.Pointer)
	if err != nil {
		t.Fatal(err)
	}
	return &specimen{doc: p.doc, node: node, reference: ref, number: number, keep: true}
}
