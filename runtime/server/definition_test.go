package server

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// Nothing would obey the keys that a manifest has beside the protocol's members, and lists would show them.
func TestSRV06LET04KeysOfManifestsAreRefusedInWhatIsAdded(t *testing.T) {
	w := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo), withTask(TaskOptional))}})
	add := func(more string) error {
		return w.srv.AddTool([]byte(`{"name":"added","inputSchema":{"type":"object"},`+more+`}`), counting{new(int)},
			func(context.Context, *Call, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	}
	for more, want := range map[string]string{
		`"timeout":"5s"`:                                        "/timeout: it is a key of manifests, and nothing obeys it here: remove it, and use context.WithTimeout",
		`"cancellation":{"mode":"none"}`:                        "/cancellation: it is a key of manifests",
		`"elicitations":{}`:                                     "/elicitations: it is a key of manifests, and nothing obeys it here: remove it, and ask with server.Ask",
		`"clientCapabilities":["roots"]`:                        "/clientCapabilities: it is a key of manifests",
		`"goName":"X"`:                                          "/goName: it is a key of manifests",
		`"execution":{"ttl":"1s"}`:                              "/execution/ttl: it is a key of manifests",
		`"execution":{"maxConcurrent":1}`:                       "/execution/maxConcurrent: it is a key of manifests",
		`"execution":{"taskSupport":"optional","timeout":"1s"}`: "/execution/timeout: it is a key of manifests",
	} {
		if err := add(more); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, got %v", more, want, err)
		}
	}
	if err := add(`"execution":{"taskSupport":"optional"}`); err != nil {
		t.Errorf("the protocol's own member is refused: %v", err)
	}
	prompt := promptShape.check([]byte(`{"name":"p","timeout":"5s"}`), nil)
	resource := resourceShape.check([]byte(`{"name":"r","uri":"a:b","subscribe":false}`), nil)
	template := templateShape.check([]byte(`{"name":"t","uriTemplate":"a:{b}","variables":{}}`), nil)
	if err := errors.Join(prompt, resource, template); err == nil || strings.Count(err.Error(), "it is a key of manifests") != 3 {
		t.Error(err)
	}
}
