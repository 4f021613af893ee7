package server

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// TestLET03EveryRequestHasARateOrAReason: what a client may send is counted, however it is served, unless it stands here.
func TestLET03EveryRequestHasARateOrAReason(t *testing.T) {
	free := map[wire.Op]string{
		wire.OpInitialize: "begins a session, of which there is a limit", wire.OpInitialized: "a notification", wire.OpDiscover: "tells whether the server is there",
		wire.OpPing: "the same", wire.OpCancelled: "ends a request", wire.OpProgress: "a notification", wire.OpListTools: "was made before, no handler serves it",
		wire.OpCancelTask: "ends a task", wire.OpSetLevel: "no handler serves it", wire.OpRootsChanged: "a notification", wire.OpNotice: "a notification", wire.OpIgnore: "nothing is done",
	}
	for op := wire.OpNone + 1; op < wire.OpTaskStatus; op++ {
		if _, counts := rateOf(&wire.Method{Op: op}); counts == (free[op] != "") {
			t.Errorf("operation %d: counted %t, and %q", op, counts, free[op])
		}
	}
}
