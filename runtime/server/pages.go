package server

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// ErrNotAsked is returned by Call.ElicitationComplete for a page that this client was not sent to, or whose completion it was notified of
// already.
var ErrNotAsked = errors.New("server: this client was not asked to open such a page")

// pageIDs are the ids of the pages that a client was sent to, until it is notified of their completion: it is notified of no others
// (LET21). The oldest are dropped.
type pageIDs struct {
	mu  sync.Mutex
	ids []string
}

// maxPages is how many ids are kept for one client. The server chooses them, so no client can fill the list.
const maxPages = 1_000

// add records a page before the client is sent to it. An empty id is that of no page.
func (p *pageIDs) add(id string) {
	if id == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.ids, id) {
		return
	}
	if len(p.ids) == maxPages {
		p.ids = slices.Delete(p.ids, 0, 1)
	}
	p.ids = append(p.ids, id)
}

// take removes a page, and reports whether the client was sent to it.
func (p *pageIDs) take(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.ids, id)
	if i >= 0 {
		p.ids = slices.Delete(p.ids, i, i+1)
	}
	return i >= 0
}

// addRequired adds the pages that a URLElicitationRequiredError sends the client to.
func (p *pageIDs) addRequired(err *rpc.Error) {
	var data struct {
		Elicitations []struct{ ElicitationID string }
	}
	_ = json.Unmarshal(err.Data, &data) // URLElicitationError.data wrote it
	for _, page := range data.Elicitations {
		p.add(page.ElicitationID)
	}
}
