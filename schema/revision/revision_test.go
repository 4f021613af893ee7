package revision

import (
	"testing"
)

func TestREV04EmbeddedRevisionsLoad(t *testing.T) {
	for _, name := range Names() {
		r, ds := Load(name)
		if len(ds) > 0 {
			t.Errorf("%s:\n%v", name, ds)
			continue
		}
		t.Log(r.Name, len(r.Methods), len(r.Messages))
	}
}
