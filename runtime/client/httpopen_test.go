package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// callers give up their calls.
type callers struct {
	mu sync.Mutex
	by map[string]context.CancelFunc // tool
}

// once has the caller of a tool give up when its request has come.
func (c *callers) once(tool string, giveUp context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]context.CancelFunc{}
	}
	c.by[tool] = giveUp
}

// hasCome has the caller give up.
func (c *callers) hasCome(m message) {
	var call struct{ Name string }
	_ = json.Unmarshal(m.Params, &call)
	c.mu.Lock()
	defer c.mu.Unlock()
	if giveUp := c.by[call.Name]; giveUp != nil {
		giveUp()
	}
}

// lasting is a server, with the way to it, where requests of calls last longer than their client wants. Others are answered at once.
type lasting struct {
	stuck
	answered bool          // calls are answered, on streams that do not end
	tasks    bool          // calls are answered with tasks, and the requests that cancel these last
	closing  time.Duration // how long it takes to close a request
	callers
	mu   sync.Mutex
	now  int // requests that are open,
	most int // and how many there were at most
}

func (l *lasting) count(by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now += by
	l.most = max(l.most, l.now)
}

// serve has the requests of calls last.
func (l *lasting) serve(r *http.Request, m message) (*http.Response, error) {
	switch {
	case m.Method == "tools/call" && l.tasks:
		w := httptest.NewRecorder()
		answer(w, m, `{"resultType":"task","taskId":"t`+string(m.ID)+`","status":"working",`+moments+`,"ttlMs":null}`)
		return w.Result(), nil
	case m.Method != "tools/call" && m.Method != "tasks/cancel":
		return l.stuck.serve(r, m)
	}
	l.count(1)
	l.hasCome(m)
	if l.answered {
		resp, events := eventStream(r)
		context.AfterFunc(r.Context(), func() { l.count(-1) })
		go func() {
			_, _ = io.WriteString(events, `data: {"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":`+complete(l.revision, "done")+"}\n\n")
		}()
		return resp, nil
	}
	defer l.count(-1)
	<-r.Context().Done()
	time.Sleep(l.closing) // of the bubble's clock
	return nil, r.Context().Err()
}

// Whatever calls leave behind, and however slowly that is closed: there is room for so much of it, and more calls wait for room.
func TestCAN15WhatCallsLeaveOpenIsBounded(t *testing.T) {
	for name, srv := range map[string]*lasting{
		"given up, with notifications":                        {stuck: stuck{revision: "2025-11-25", offers: offers, answers: 2}, closing: 10 * time.Second},
		"given up, with notifications that are not answered":  {stuck: stuck{revision: "2025-11-25", offers: offers}, closing: 10 * time.Second},
		"given up, by closing their streams":                  {stuck: stuck{revision: "2026-07-28", offers: offers}, closing: 10 * time.Second},
		"given up, and they may have become tasks":            {stuck: stuck{revision: "2026-07-28", offers: taskOffers}, closing: 10 * time.Second},
		"given up when they have become tasks":                {stuck: stuck{revision: "2026-07-28", offers: taskOffers}, tasks: true, closing: 10 * time.Second},
		"answered, on streams that their server does not end": {stuck: stuck{revision: "2025-11-25", offers: offers}, answered: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				endpoint := client.HTTP("http://server.test/mcp")
				endpoint.Client = &http.Client{Transport: roundTrip(srv.serve)}
				s := connect(t, endpoint, []client.Option{client.WithRevision(srv.revision), client.WithTimeout(0, 0)})
				var calling sync.WaitGroup
				const atOnce, calls = 16, 2000
				for n := range atOnce {
					calling.Go(func() {
						tool := fmt.Sprint("x", n)
						for range calls / atOnce {
							ctx, cancel := context.WithCancel(t.Context())
							switch {
							case srv.tasks:
								time.AfterFunc(time.Microsecond, cancel)
							case !srv.answered:
								srv.once(tool, cancel)
							}
							_, err := s.CallTool(ctx, tool, nil)
							cancel()
							if srv.answered != (err == nil) || err != nil && !errors.Is(err, context.Canceled) {
								t.Error(err)
							}
						}
					})
				}
				calling.Wait()
				srv.mu.Lock()
				defer srv.mu.Unlock()
				if most := 128 + 1024 + 2*atOnce; srv.most > most || srv.most < 128 {
					t.Errorf("%d requests of calls are open at once, want at most %d", srv.most, most)
				}
			})
		})
	}
}

// unhurried is a server that reads one message in 5 ms, also of connections that its client has closed.
type unhurried struct {
	stuck
	callers
	inbox    chan chan struct{}
	messages atomic.Int32 // unread
	most     atomic.Int32
}

func (s *unhurried) read() {
	for m := range s.inbox {
		time.Sleep(5 * time.Millisecond) // of the bubble's clock
		close(m)
		s.messages.Add(-1)
	}
}

func (s *unhurried) serve(r *http.Request, m message) (*http.Response, error) {
	wrote(r)
	read := make(chan struct{})
	s.most.Store(max(s.most.Load(), s.messages.Add(1)))
	s.inbox <- read
	s.hasCome(m)
	select {
	case <-read:
		return s.stuck.serve(r, m)
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// A server that is slower than its client is not left with ever more connections that the client has closed.
func TestCAN15CallsWaitForAServerThatIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &unhurried{stuck: stuck{revision: "2025-11-25", offers: offers, answers: 2}, inbox: make(chan chan struct{}, 1<<16)}
		var reading sync.WaitGroup
		reading.Go(srv.read)
		endpoint := client.HTTP("http://server.test/mcp")
		endpoint.Client = &http.Client{Transport: roundTrip(srv.serve)}
		s, err := client.Connect(t.Context(), endpoint, client.WithRevision(srv.revision), client.WithTimeout(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		var calling sync.WaitGroup
		const atOnce, calls = 16, 4000
		giveUp := func(tool string) {
			ctx, cancel := context.WithCancel(t.Context())
			srv.once(tool, cancel)
			if _, err := s.CallTool(ctx, tool, nil); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		giveUp("hang") // its cancellation is answered: the server is known to do that
		time.Sleep(time.Minute)
		for n := range atOnce {
			calling.Go(func() {
				for range calls / atOnce {
					giveUp(fmt.Sprint("hang", n))
				}
			})
		}
		calling.Wait()
		if n := srv.most.Load(); n > 3*(128+atOnce) { // a request, and two cancellations of it
			t.Errorf("%d messages are unread", n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		close(srv.inbox)
		reading.Wait()
	})
}
