package fixture

import (
	"context"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/shop/shop"
)

type handlers struct {
	shop.Handlers
	jobs    chan string
	working sync.WaitGroup
}

var _ shop.Handlers = (*handlers)(nil)

func (h *handlers) PostLedger(ctx context.Context, call *server.Call, in *shop.PostLedgerInput) (*shop.CallToolResult, error) {
	h.jobs <- in.Batch // want "nothing bounds a send"
	h.working.Wait()   // want "nothing bounds this wait"
	select {           // want "nothing bounds a select"
	case <-h.jobs:
	case h.jobs <- "":
	}
	select {
	case <-h.jobs:
	case <-time.After(time.Minute):
	}
	timer := time.NewTimer(time.Minute)
	select {
	case <-h.jobs:
	case <-timer.C:
	}
	select {
	case <-h.jobs:
	default:
	}
	h.settle()
	return shop.TextResult("posted"), nil
}

func (h *handlers) Say(ctx context.Context, call *server.Call, in *shop.SayInput) (*shop.CallToolResult, error) {
	h.working.Wait() // a cancel answers the client
	return shop.TextResult("said"), nil
}

// settle is called by the handler that can not be cancelled alone.
func (h *handlers) settle() {
	<-h.jobs // want "nothing bounds a receive"
}
