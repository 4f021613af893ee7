package streamhttp

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// However often a client opens a listener, its session has few: the oldest ends, and the newest hears what is said.
func TestTSK28ASessionHasFewListeners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newBubble(t)
		session := f.initialize()
		var newest *events
		for range 3 * maxListeners {
			newest = f.listen(session)
			synctest.Wait()
		}
		s := f.only()
		if n := f.h.gets.Used(); n != maxListeners || len(s.listeners) != maxListeners {
			t.Errorf("%d GET requests are answered, and there are %d listeners", n, len(s.listeners))
		}
		if err := s.Write(rpc.ID{}, false, []byte(`{"jsonrpc":"2.0","method":"notifications/x"}`)); err != nil {
			t.Fatal(err)
		}
		newest.message()
	})
}

// One caller leaves some of the streams of GET requests to others, however many sessions it has.
func TestTSK28ListenersOfACallerAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newBubble(t, WithMaxSessions(8))
		fill := func(user string) (refused *http.Response, n int) {
			session := f.initialize("X-User: " + user)
			for {
				resp := f.do(f.request(http.MethodGet, "", "X-User: "+user, session))
				if resp.StatusCode != http.StatusOK {
					return resp, n
				}
				n++
			}
		}
		refused, n := fill("mallory")
		if n != 12 || refused.Header.Get("Retry-After") == "" {
			t.Errorf("%d listeners of 16: %v", n, refused.Header)
		}
		f.want(refused, 429, "limit", "one caller")
		for i := range 4 {
			refused, n = fill(fmt.Sprint("bob", i))
		}
		f.want(refused, 503, "limit")
		if n != 0 {
			t.Errorf("%d listeners are answered beyond the limit", n)
		}
	})
}
