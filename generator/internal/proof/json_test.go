package proof_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/proof"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// TestVAL12JSONMarshalWritesWhatTheEncoderWrites asks the types of all goldens, of random schemas, and of the servers that are
// built here. Each valid instance, and the zero value, is written by both, and read back by json.Unmarshal.
func TestVAL12JSONMarshalWritesWhatTheEncoderWrites(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	e := &experiment{}
	for _, s := range e.goldens(t) {
		e.vary(r, s, 40)
	}
	for a := (&author{Rand: r}); e.batch.Len() < 100; {
		if s, _ := e.admit(t, a.document(), e.batch.Len()%4 != 0); s != nil {
			e.vary(r, s, 20)
		}
	}
	for _, server := range []string{"conformance/server", "bench"} {
		for _, doc := range toolSchemas(t, filepath.Join("..", "..", "..", "testdata", filepath.FromSlash(server), "mcpkiln.yaml")) {
			number, ds, err := e.batch.Add(proof.Schema{Document: doc})
			if err != nil || ds.HasErrors() {
				t.Fatal(err, ds)
			}
			e.vary(r, &specimen{doc: doc, number: number}, 20)
		}
	}
	valid := 0
	for i, a := range ask(t, build(t, &e.batch), e.questions) {
		if jsonFault(e.of[i], a) != "" {
			t.Errorf("schema %s\ninstance %s\n%s", e.of[i].doc.Root.JSON(), e.instances[i].JSON(), a.JSON)
		}
		if a.Valid() {
			valid++
		}
	}
	if valid*10 < len(e.questions) {
		t.Errorf("%d of %d instances are valid: that says too little", valid, len(e.questions))
	}
}

// toolSchemas are the inputs and outputs of a manifest.
func toolSchemas(t *testing.T, path string) []*schema.Document {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, ds := manifest.Load(path, text)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	var all []*schema.Document
	for _, tool := range m.Tools {
		all = append(all, tool.Input)
		if tool.Output != nil {
			all = append(all, tool.Output)
		}
	}
	return all
}
