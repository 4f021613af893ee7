package wire

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

var update = flag.Bool("update", false, "rewrite "+toolResultFile)

// What is packed of a tool's result is the union of the embedded revisions: one that was edited without packing it again fails here.
func TestREV07PackedToolResultIsThatOfAllRevisions(t *testing.T) {
	all := load(t, revision.Names()...)
	want := packToolResult(all)
	if *update {
		if err := os.WriteFile(toolResultFile, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(toolResultFile)
	if err != nil || !bytes.Equal(have, want) {
		t.Fatalf("%s is not what the revisions say (%v): make golden", toolResultFile, err)
	}
	packed, fresh := unpackToolResult(string(have)), NewProtocol(all, revision.Embedded().ToolResult)
	if !reflect.DeepEqual(packed.Doc.Root, fresh.Doc.Root) {
		t.Errorf("packed is\n%s\nwant\n%s", packed.Doc.Root.JSON(), fresh.Doc.Root.JSON())
	}
	if have, want := omissions(packed), omissions(fresh); !maps.EqualFunc(have, want, slices.Equal) || len(want) == 0 {
		t.Errorf("omitted are %v, want %v", have, want)
	}
}

// omissions are the properties that are omitted in some revisions, by their pointers. Each is a node of the document.
func omissions(p *Protocol) map[string][]string {
	all := map[string][]string{}
	p.Doc.Root.Walk(func(n *schema.Node) bool {
		if names, ok := p.omittedIn[n]; ok {
			all[n.Pointer] = names
		}
		return true
	})
	return all
}
