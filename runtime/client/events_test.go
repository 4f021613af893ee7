package client_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

func TestNotificationsReachTheirHandlers(t *testing.T) {
	var mu sync.Mutex
	var got []string
	add := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprintf(format, args...))
	}
	synctest.Test(t, func(t *testing.T) {
		_, p := meet(t, "2025-11-25", client.WithHandlers(client.Handlers{
			Log:             func(level, logger string, data json.RawMessage) { add("%s %s %s", level, logger, data) },
			ListChanged:     func(l client.List) { add("%s", l) },
			ResourceUpdated: func(uri string) { add("%s", uri) },
			PageDone:        func(id string) { add("%s", id) },
		}))
		p.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"l","data":{"a":1}}}`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"7"}}`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/nobody/knows","params":{}}`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/message","params":[]}`)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if want := `[info l {"a":1} tools file:///a 7]`; fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s", got, want)
		}
	})
}

// What a slow handler has not heard yet is not kept without bound: what says the same is told once.
func TestVAL07AStormOfNotificationsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lists, resources, pages atomic.Int32
		hold := make(chan struct{})
		_, p := meet(t, "2025-11-25", client.WithHandlers(client.Handlers{
			ListChanged:     func(client.List) { lists.Add(1); <-hold },
			ResourceUpdated: func(string) { resources.Add(1) },
			PageDone:        func(string) { pages.Add(1) },
		}))
		for i := range 3000 {
			p.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			p.send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}`)
			p.send(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"%d"}}`, i)
		}
		synctest.Wait()
		close(hold)
		synctest.Wait()
		if lists.Load() != 2 || resources.Load() != 1 || pages.Load() > 1024 {
			t.Errorf("%d lists, %d resources, %d pages", lists.Load(), resources.Load(), pages.Load())
		}
	})
}
