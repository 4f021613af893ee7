package client_test

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// reporting is a task whose caller is busy with the first of its reports.
type reporting struct {
	*client.Execution[client.ToolResult]
	p    *peer
	call message
	got  []float64
	busy chan struct{} // the caller goes on when it is closed
}

// report starts a task, which has then reported 1 to 8.
func report(t *testing.T) *reporting {
	s, p := meetOffering(t, "2025-11-25", taskOffers)
	r := &reporting{p: p, busy: make(chan struct{})}
	p.offerTask(s)
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		x, err := s.Start(t.Context(), "x", nil, client.OnProgress(r.take))
		if err != nil {
			t.Error(err)
		}
		r.Execution = x
	}()
	r.call = p.expect("tools/call")
	r.become()
	<-begun
	for i := range 8 {
		r.progress(i + 1)
	}
	return r
}

// become answers that the call has become a task.
func (r *reporting) become() {
	r.p.t.Helper()
	r.p.answer(r.call, fmt.Sprintf(`{"task":{"taskId":"t1","status":"working",%s,"ttl":null,"pollInterval":5000}}`, moments))
}

// progress reports progress, which the client has received when it returns.
func (r *reporting) progress(n int) {
	r.p.t.Helper()
	r.p.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, r.call.ID, n)
	synctest.Wait()
}

func (r *reporting) take(p client.Progress) {
	r.got = append(r.got, p.Progress)
	<-r.busy
}

// end has the server answer that the task is over with that status.
func (r *reporting) end(status string) {
	r.p.t.Helper()
	go r.p.each(func(m message) {
		switch m.Method {
		case "tasks/result":
			r.p.answer(m, `{"content":[]}`)
		case "tasks/get", "tasks/cancel":
			r.p.answer(m, fmt.Sprintf(`{"taskId":"t1","status":%q,%s,"ttl":null}`, status, moments))
		}
	})
}

// What a task reported before its end reaches a caller that was busy then, before Result returns.
func TestPRO01WhatATaskReportedLastIsPassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := report(t)
		r.end("completed")
		time.AfterFunc(5500*time.Millisecond, func() { close(r.busy) }) // of the bubble's clock; the task is known to be over after 5 s
		if _, err := r.Result(t.Context()); err != nil || !slices.Equal(r.got, []float64{1, 2, 3, 4, 5, 6, 7, 8}) {
			t.Errorf("%v; %v", err, r.got)
		}
	})
}

// Result does not wait for ever for what its caller does with progress, because that may wait for Result. Nothing is passed on afterwards.
func TestPRO01NothingIsPassedOnAfterResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := report(t)
		r.end("completed")
		if _, err := r.Result(t.Context()); err != nil {
			t.Error(err)
		}
		close(r.busy)
		synctest.Wait()
		if !slices.Equal(r.got, []float64{1}) {
			t.Errorf("%v", r.got)
		}
	})
}

// Nothing is passed on after a caller has cancelled the task or stopped following it.
func TestPRO01NothingIsPassedOnAfterCancelOrDetach(t *testing.T) {
	for name, stop := range map[string]func(r *reporting) error{
		"Cancel": func(r *reporting) error { return r.Cancel(context.Background(), "enough") },
		"Detach": func(r *reporting) error { r.Detach(); return nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			r := report(t)
			r.end("cancelled")
			at := time.Now()
			time.AfterFunc(100*time.Millisecond, func() { close(r.busy) }) // of the bubble's clock
			if err := stop(r); err != nil || time.Since(at) != 100*time.Millisecond {
				t.Errorf("%s: %v, while the caller's function ran until %v later", name, err, 100*time.Millisecond-time.Since(at))
			}
			if _, err := r.Result(t.Context()); err == nil {
				t.Errorf("%s: it has a result", name)
			}
			synctest.Wait()
			if !slices.Equal(r.got, []float64{1}) {
				t.Errorf("%s: %v", name, r.got)
			}
		})
	}
}

// A call that has become a task passes all its progress on before it returns, and on its caller's goroutine, as any other.
func TestPRO01ACallThatIsATaskReturnsAfterItsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2025-11-25", taskOffers)
		p.offerTask(s)
		got := 0
		done := start(t.Context(), s, "x", client.OnProgress(func(client.Progress) {
			if !strings.Contains(string(debug.Stack()), "client.(*Session).CallTool") {
				t.Error("it is not the goroutine of the caller")
			}
			time.Sleep(time.Minute) // of the bubble's clock
			got++
		}))
		r := &reporting{p: p, call: p.expect("tools/call")}
		r.become()
		synctest.Wait()
		for i := range 8 {
			r.progress(i + 1)
		}
		r.end("completed")
		if r := <-done; r.err != nil || got != 8 {
			t.Errorf("%v; %d reports were passed on", r.err, got)
		}
	})
}

// Progress that comes after a call has become a task, and before its caller has noticed that, is not lost.
func TestPRO01ProgressBeforeATaskIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2025-11-25", taskOffers)
		p.offerTask(s)
		r := &reporting{p: p, busy: make(chan struct{})}
		done := start(t.Context(), s, "x", client.OnProgress(r.take))
		r.call = p.expect("tools/call")
		r.progress(1)
		r.become()
		r.progress(2)
		close(r.busy)
		r.end("completed")
		if d := <-done; d.err != nil || !slices.Equal(r.got, []float64{1, 2}) {
			t.Errorf("%v; %v", d.err, r.got)
		}
	})
}

// A function of OnProgress may close the session, of a call and of an Execution.
func TestPRO01ProgressMayCloseTheSession(t *testing.T) {
	for _, asTask := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2025-11-25", taskOffers)
			p.offerTask(s)
			closed := make(chan error, 1)
			progress := client.OnProgress(func(client.Progress) { closed <- s.Close() })
			go func() {
				if !asTask {
					_, _ = s.CallTool(t.Context(), "y", nil, progress)
				} else if x, err := s.Start(t.Context(), "x", nil, progress); err == nil {
					_, _ = x.Result(t.Context())
				}
			}()
			m := p.expect("tools/call")
			if asTask {
				p.answer(m, `{"task":`+taskIs("", "working", "")+`}`)
				p.expect("tasks/get")
			}
			began := time.Now()
			p.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.ID)
			go p.each(func(message) {})
			select {
			case err := <-closed:
				if took := time.Since(began); err != nil || took > 2*time.Second {
					t.Errorf("task %v: %v after %v", asTask, err, took)
				}
			case <-time.After(time.Minute):
				t.Fatalf("task %v: Close waits for its caller", asTask)
			}
		})
	}
}
