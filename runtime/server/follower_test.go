package server

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// counted is a follower that does nothing.
type counted struct{ n int }

func (t *counted) tell(topic) { t.n++ }

// Whoever follows a resource hears of it once, and nobody else does, in whatever order followers come and go.
func TestEXT13FollowersOfAResource(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var f followers
	uris, who := []string{"a", "b", "c"}, []*counted{{}, {}, {}, {}}
	follows := map[string]map[*counted]bool{"a": {}, "b": {}, "c": {}}
	for range 10_000 {
		uri, one := uris[r.IntN(len(uris))], who[r.IntN(len(who))]
		if r.IntN(2) == 0 {
			f.add(uri, one)
			follows[uri][one] = true
		} else {
			f.remove(uri, one)
			delete(follows[uri], one)
		}
		list := f.list(uri)
		if len(list) != len(follows[uri]) {
			t.Fatalf("%d follow, not %d", len(list), len(follows[uri]))
		}
		for _, one := range list {
			if !follows[uri][one.(*counted)] {
				t.Fatal("somebody follows who does not")
			}
		}
	}
	for _, uri := range uris {
		for _, one := range who {
			f.remove(uri, one)
		}
	}
	if len(f.of) != 0 {
		t.Errorf("kept: %v", f.of)
	}
}

// Changes of lists concern the sessions and subscriptions that are open, each once; a request that is answered is none of them.
func TestEXT13FollowersOfLists(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	follow := func(want int) {
		t.Helper()
		if n := len(f.srv.followers.ofLists()); n != want {
			t.Errorf("%d follow, not %d", n, want)
		}
	}
	var open []*listening
	for range 3 {
		l, _ := f.listen(t.Context(), nothing, `{"toolsListChanged":true}`)
		open = append(open, l)
	}
	c := f.dial(t.Context())
	c.initialize(`{}`)
	f.ask(t.Context(), frame(1, "tools/list", nothing, `"cursor":""`))
	follow(4)
	c.close()
	follow(3)
	for left, l := range slices.Backward(open) {
		l.cancel()
		<-l.done
		follow(left)
	}
}

// BenchmarkListeners is a change of one resource that one of 10,000 subscriptions follows, and of a list that all of them do.
func BenchmarkListeners(b *testing.B) {
	s, err := New(Definition{Name: "test", Version: "1", Runtime: Generation1, Revisions: []*wire.Revision{wiretest.Revision20260728()}})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		l := &listen{
			peer: new(peer), kinds: map[wire.Op]bool{wire.OpToolsChanged: true}, wake: make(chan struct{}, 1),
			ack: &wire.Acknowledged{ResourceURIs: []string{fmt.Sprint("test://", i)}},
		}
		s.openListen(l)
	}
	b.Run("resource", func(b *testing.B) {
		for b.Loop() {
			s.ResourceUpdated("test://7")
		}
	})
	b.Run("tools", func(b *testing.B) {
		for b.Loop() {
			s.ToolsChanged()
		}
	})
	b.Run("tools/locked", func(b *testing.B) {
		for b.Loop() {
			s.followers.ofLists()
		}
	})
}
