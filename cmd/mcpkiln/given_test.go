package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// forms is a server of 2025-11-25 that asks during a call, by requests on the call's stream.
type forms struct {
	*httptest.Server
	answers  chan given   // of this command
	receipts sync.RWMutex // locked: no answer gets its receipt
	busy     atomic.Int64 // the id of the question whose answer it has no time for
}

// given is an answer.
type given struct {
	ID     int
	Result struct {
		Action  string
		Content json.RawMessage
	}
}

// serveForms serves a tool t, whose call has asks send what it likes.
func serveForms(t *testing.T, asks func(ctx context.Context, f *forms, send func(format string, args ...any))) *forms {
	t.Helper()
	f := &forms{answers: make(chan given, 100)}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			given
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case m.Method == "":
			_ = json.Unmarshal(m.ID, &m.given.ID)
			f.answers <- m.given
			f.receipts.RLock()
			defer f.receipts.RUnlock()
			if m.given.ID == int(f.busy.Load()) {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "initialize":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`, m.ID)
		case m.Method == "tools/list":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}`, m.ID, plainTool)
		case m.Method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			send := func(format string, args ...any) {
				fmt.Fprintf(w, "data: "+format+"\n\n", args...)
				w.(http.Flusher).Flush()
			}
			asks(r.Context(), f, send)
			send(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}`, m.ID)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

// asksNumber asks for a number.
const asksNumber = `{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"mode":"form","message":"%s","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}`

// TestAnswersGoToQuestionsInTheOrderInWhichTheyCome: questions of one form, sent back to back.
func TestAnswersGoToQuestionsInTheOrderInWhichTheyCome(t *testing.T) {
	const questions = 12
	f := serveForms(t, func(_ context.Context, f *forms, send func(string, ...any)) {
		for n := range questions {
			send(asksNumber, 100+n, fmt.Sprint("which ", n))
		}
		for range questions {
			if a := <-f.answers; string(a.Result.Content) != fmt.Sprintf(`{"n":%d}`, a.ID-100) {
				t.Errorf("question %d got %s", a.ID-100, a.Result.Content)
			}
		}
	})
	args := []string{"call", "--revision", "2025-11-25", f.URL, "t"}
	for n := range questions {
		args = append(args, "--answer", fmt.Sprintf(`{"n":%d}`, n))
	}
	if status, stdout, stderr := runs(t, args...); status != 0 || stderr != "" {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// TestAnAnswerThatWasNotDeliveredIsFreeAgain: a question is withdrawn as soon as it is asked. Another one of its form gets the answer; if there is none, the
// answer was not used.
func TestAnAnswerThatWasNotDeliveredIsFreeAgain(t *testing.T) {
	for _, replaced := range []bool{true, false} {
		for range 10 { // the answer may be sent before the withdrawal is read
			var got []given
			f := serveForms(t, func(ctx context.Context, f *forms, send func(string, ...any)) {
				send(asksNumber+"\n\ndata: "+`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, 7, "old", 7)
				if !replaced {
					return
				}
				send(asksNumber, 8, "new")
				for len(got) == 0 || got[len(got)-1].ID != 8 {
					select {
					case a := <-f.answers:
						got = append(got, a)
					case <-ctx.Done(): // it has ended with the question: the first one got the answer
						return
					}
				}
			})
			status, stdout, stderr := runs(t, "call", "--revision", "2025-11-25", f.URL, "t", "--answer", `{"n":1}`)
			f.Close()
			close(f.answers)
			for a := range f.answers {
				got = append(got, a)
			}
			delivered := slices.ContainsFunc(got, func(a given) bool { return a.ID == 7 && a.Result.Action == "accept" })
			switch {
			case delivered:
			case replaced && (status != 0 || len(got) != 1 || string(got[0].Result.Content) != `{"n":1}`):
				t.Errorf("status %d, %v: %s%s", status, got, stdout, stderr)
			case !replaced && (status != 0 || !strings.Contains(stderr, `--answer {"n":1} was not used: the question that it fits was over before it had the answer`)):
				t.Errorf("status %d: %s%s", status, stdout, stderr)
			}
		}
	}
}

// TestAnAnswerThatTheServerHadNoTimeForIsFreeAgain: so another question of its form gets it when the first was withdrawn.
func TestAnAnswerThatTheServerHadNoTimeForIsFreeAgain(t *testing.T) {
	var got []given
	f := serveForms(t, func(_ context.Context, f *forms, send func(string, ...any)) {
		f.busy.Store(7)
		send(asksNumber, 7, "old")
		<-f.answers
		send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, 7)
		send(asksNumber, 8, "new")
		for a := range f.answers {
			if got = append(got, a); a.ID == 8 {
				return
			}
		}
	})
	status, stdout, stderr := runs(t, "call", "--revision", "2025-11-25", f.URL, "t", "--answer", `{"n":1}`)
	close(f.answers)
	f.Close()
	if status != 0 || len(got) == 0 || string(got[len(got)-1].Result.Content) != `{"n":1}` {
		t.Errorf("status %d, %v: %s%s", status, got, stdout, stderr)
	}
}

// TestTheEndOfALaterRoundSaysNothingOfAnAnswer: the question of a call comes again under its key, and nobody answers it.
func TestTheEndOfALaterRoundSaysNothingOfAnAnswer(t *testing.T) {
	v := &visit{answers: []answer{{}}}
	ask := func() *client.Question { return &client.Question{Keyed: true, Key: "a"} }
	if v.given(t.Context(), ask()) == nil {
		t.Fatal("the answer was not given")
	}
	v.settle(ask(), &client.Cause{Source: inflight.SourceParent})
	if len(v.answers) != 0 {
		t.Errorf("free again: %v", v.answers)
	}
}

// TestWhatBecameOfAnAnswerWithoutAReceiptIsNotClaimed: the server has taken it, but its question is over, or withdrawn, before the server says so.
func TestWhatBecameOfAnAnswerWithoutAReceiptIsNotClaimed(t *testing.T) {
	for _, withdrawn := range []bool{true, false} {
		f := serveForms(t, func(_ context.Context, f *forms, send func(string, ...any)) {
			send(asksNumber, 7, "which")
			if a := <-f.answers; string(a.Result.Content) != `{"n":1}` {
				t.Errorf("it was answered with %s", a.Result.Content)
			}
			if withdrawn {
				send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, 7)
			}
		})
		f.receipts.Lock()
		status, stdout, stderr := runs(t, "call", "--revision", "2025-11-25", f.URL, "t", "--answer", `{"n":1}`)
		f.receipts.Unlock()
		if status != 0 || stdout != "done\n" || strings.Contains(stderr, "not used") || !strings.Contains(stderr, `mcpkiln: --answer {"n":1} was sent, and `+notKnown) {
			t.Errorf("withdrawn %v: status %d: %s%s", withdrawn, status, stdout, stderr)
		}
	}
}

// TestEXT10AnAnswerThatTheServerNeverTookIsNamed: the server is busy, refuses the answer as its own fault, or never gives a receipt, until the time of the task is up.
func TestEXT10AnAnswerThatTheServerNeverTookIsNamed(t *testing.T) {
	for what, receipt := range map[string]func(w http.ResponseWriter, id json.RawMessage){
		"the server has not taken it: HTTP status 503": func(w http.ResponseWriter, _ json.RawMessage) { w.WriteHeader(http.StatusServiceUnavailable) },
		"the server has not taken it: disk full (code -32603)": func(w http.ResponseWriter, id json.RawMessage) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"disk full"}}`, id)
		},
		notKnown + ": ": func(w http.ResponseWriter, _ json.RawMessage) {
			if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = c.Close()
			}
		},
	} {
		a, ref := ask(t, 0, sureForm)
		a.change(func() {
			a.receipt = receipt
			a.cancels = func() { a.stale = []string{`"status":"cancelled"`, `"status":"cancelled"`} }
		})
		status, stdout, stderr := callsTool(t, ref, "--timeout", "1s", "--answer", `{"yes":true}`)
		if status != exitTimeout || strings.Count(stderr, `mcpkiln: --answer {"yes":true} was sent, and `+what) != 1 {
			t.Errorf("%s: status %d: %s%s", what, status, stdout, stderr)
		}
	}
}
