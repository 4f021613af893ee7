package client_test

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

func TestAListThatIsNoneIsRefused(t *testing.T) {
	s, p := meet(t, "2025-11-25")
	for result, want := range map[string]string{`{}`: "its result has no tools", `{"tools":null}`: "its list is none: null", `{"tools":[],"nextCursor":5}`: "its nextCursor is no string: 5"} {
		go func() { p.answer(p.expect("tools/list"), result) }()
		refused := false
		for _, err := range s.ListTools(t.Context()) {
			refused = true
			var bad *client.ProtocolError
			if !errors.As(err, &bad) {
				t.Fatalf("%s: %v", result, err)
			}
			has(t, err.Error(), want)
		}
		if !refused {
			t.Errorf("%s was taken for a list", result)
		}
	}
}

func TestCAN24ABatchIsNamedWhereThereAreNone(t *testing.T) {
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		if !session(w, r, m, "s") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `[{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"content":[]}}]`)
		}
	})
	_, err := dialHTTP(t, url, client.WithRevision("2025-11-25")).CallTool(t.Context(), "x", nil)
	if err == nil {
		t.Fatal("it was taken for an answer")
	}
	has(t, err.Error(), "it is a batch, which revision 2025-11-25 does not have")
}

func TestAClosedHubTakesNoServer(t *testing.T) {
	h := new(client.Hub)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	ours, theirs := rpc.Pipe()
	defer ours.Close()
	defer theirs.Close()
	err := h.Add(t.Context(), "a", client.Conn(ours))
	if err == nil {
		t.Fatal("it was added")
	}
	has(t, err.Error(), "the hub is closed")
}

func TestARefWithoutAnIDIsRefused(t *testing.T) {
	s, _ := meetOffering(t, "2025-11-25", taskOffers)
	var refused *client.RefError
	if _, err := s.Resume(t.Context(), client.Ref{Version: 1, Revision: "2025-11-25"}); !errors.As(err, &refused) {
		t.Fatalf("%v", err)
	}
}
