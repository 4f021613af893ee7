package servertest_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
	"github.com/mcpkiln/mcpkiln/testdata/library/library"
)

// SRV02: the end of a handshake is told with the revision that it agreed on, so that logs and metrics show which clients there are.
func TestSRV02TheHandshakeIsToldWithItsRevision(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan string, 1)
			srv, err := library.New(librarian{}, server.WithObserver(func(e server.Event) {
				if e.Kind == server.RequestEnded && e.Method == "initialize" {
					ended <- e.Revision
				}
			}))
			if err != nil {
				t.Fatal(err)
			}
			servertest.Start(t, srv, servertest.WithRevision(revision))
			if got := <-ended; got != revision {
				t.Errorf("%s, want %s", got, revision)
			}
		})
	}
}
