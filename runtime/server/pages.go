package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// ErrNotAsked is returned by Call.ElicitationComplete for a page that this client was not sent to, or whose completion it was notified of
// already.
var ErrNotAsked = errors.New("server: this client was not asked to open such a page")

// ElicitationComplete tells the client once that the user has finished on a page: id is the elicitationId of the request or URLElicitationError that
// sent the user there in this session. A task tells the client of its owner that has got the question. Revisions in which the client's answer says so
// have no such notification; for them, and when the call or the connection is over, ElicitationComplete does nothing. *UnsupportedError: the client did
// not declare that it opens pages. ErrNotAsked: this client was not sent to such a page, or was told already.
func (c *Call) ElicitationComplete(ctx context.Context, id string) error {
	tells := c.peer != nil && c.revision.tellsOfPages()
	if ctx.Err() != nil || c.taskRun == nil && !tells {
		return nil
	}
	if tells {
		if refused := c.revision.refusesPages(c.can); refused != nil {
			return refused
		}
	}
	sent := c.sentTo(id)
	if len(sent) == 0 && tells {
		return fmt.Errorf("%w: %q", ErrNotAsked, id)
	}
	for _, about := range sent {
		rev := about.peer.revision
		params := rev.relate(rev.AppendElicitationComplete(nil, &wire.ElicitationComplete{ElicitationID: id}), c.TaskID())
		if err := c.notifyAbout(about, notification{revision: rev, op: wire.OpElicitationComplete, params: params}); err != nil {
			c.Log().Debug("completion not told", "elicitation", id, "error", err)
		}
	}
	return nil
}

// sentTo returns the clients that the call has sent to the page, and that are not told yet that it is done: of a task, any sessions of its owner.
func (c *Call) sentTo(id string) (all []subject) {
	if c.taskRun == nil {
		if c.peer.pagesSent.take(id) {
			all = append(all, c.subject())
		}
		return all
	}
	t := c.taskRun.Task()
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	for _, p := range c.s.peers {
		if p.owner == t.Owner && p.pagesSent.take(id) && p.revision.tellsOfPages() {
			all = append(all, subject{peer: p, ctx: c.taskRun.Context(), task: c.s.taskLives[t.ID]})
		}
	}
	return all
}

// tellsOfPages reports whether the revision has a notification that the user has finished on a page.
func (rev *revision) tellsOfPages() bool {
	return rev.names[wire.OpElicitationComplete] != "" && rev.AppendElicitationComplete != nil
}

// refusesPages says why a client with these abilities can not be sent to a page, nil if it can.
func (rev *revision) refusesPages(can ability) *UnsupportedError {
	return rev.unsupported(can, &task.Question{Method: elicitMethod, Payload: rev.page})
}

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
		Elicitations []struct {
			ElicitationID string `json:"elicitationId"`
		} `json:"elicitations"`
	}
	_ = exact.Unmarshal(err.Data, &data) // URLElicitationError.data wrote it
	for _, page := range data.Elicitations {
		p.add(page.ElicitationID)
	}
}
