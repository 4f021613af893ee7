package streamhttp

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// march is a session of 2025-03-26.
func (f *fixture) march() (session string) { return f.marchWith(`{}`) }

func (f *fixture) marchWith(capabilities string) (session string) {
	f.t.Helper()
	resp := f.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":` + capabilities + `,"clientInfo":{"name":"c","version":"1"}}}`)
	session = "Mcp-Session-Id: " + resp.Header.Get("Mcp-Session-Id")
	f.want(resp, 200, `"protocolVersion":"2025-03-26"`)
	f.want(f.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, session), 202)
	return session
}

const twoPings = `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`

func TestCAN24ABatchIsAnsweredByAnArrayOverHTTP(t *testing.T) {
	f := newFixture(t)
	session := f.march()
	resp := f.post(twoPings, session)
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type: %s", got)
	}
	f.want(resp, 200, `[{"jsonrpc":"2.0","id":`, `"id":1,"result":{}`, `"id":2,"result":{}`)
	f.want(f.post(`[{"jsonrpc":"2.0","method":"notifications/progress","params":{}}]`, session), 202)
	f.want(f.post(`[5]`, session), 200, `[{"jsonrpc":"2.0","error":{"code":-32600`)
	f.want(f.post(`[]`, session), 400, "-32600", "must have a message")
	f.want(f.post(twoPings, session), 200, `"id":1`)
}

// TestCAN24MessagesOfABatchStreamUntilTheArray: progress comes at once, on the stream that ends with the answers.
func TestCAN24MessagesOfABatchStreamUntilTheArray(t *testing.T) {
	f := newFixture(t)
	session := f.march()
	body := `[` + callBody("1", "steps", "done") + `,{"jsonrpc":"2.0","id":2,"method":"ping"}]`
	s := f.events(f.post(body, session))
	if e, _ := s.next(); !strings.Contains(e.data, "notifications/progress") || e.id == "" {
		t.Errorf("the stream begins with %+v", e)
	}
	<-f.began
	f.release <- struct{}{}
	e := s.message()
	if !strings.HasPrefix(e.data, "[") || !strings.Contains(e.data, `"id":1`) || !strings.Contains(e.data, `"id":2,"result":{}`) {
		t.Errorf("answers: %s", e.data)
	}
	s.end()
}

// TestCAN24RequestsOfABatchAreCancelledByThemselvesOverHTTP, and those that are left are answered.
func TestCAN24RequestsOfABatchAreCancelledByThemselvesOverHTTP(t *testing.T) {
	f := newFixture(t)
	session := f.march()
	answered := make(chan *http.Response)
	go func() {
		answered <- f.post(`[`+callBody("1", "hang", "")+`,{"jsonrpc":"2.0","id":2,"method":"ping"}]`, session)
	}()
	<-f.began
	f.want(f.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, session), 202)
	<-f.causes
	resp := <-answered
	f.want(resp, 200, `[{"jsonrpc":"2.0","id":2,"result":{}}]`)
}

// CAN03, CAN08: a batch leaves nothing in its session once its response is over, also when nothing answers it; its ids can be used again, and the
// session may give way.
func TestCAN03CAN08CAN24ABatchLeavesNothingBehindOverHTTP(t *testing.T) {
	cancel := func(id string) string { return strings.Replace(cancelOne, ":1}", ":"+id+"}", 1) }
	hang, pinged := callBody("1", "hang", ""), `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	for name, c := range map[string]struct {
		batch  string
		status int
	}{
		"cancelled":              {"[" + hang + "," + cancelOne + "]", 202},
		"a ping, cancelled":      {"[" + pinged + "," + cancel("2") + "]", 202},
		"a refusal, cancelled":   {`[{"jsonrpc":"2.0","id":1,"method":"nothing"},` + cancelOne + "]", 202},
		"all cancelled":          {"[" + hang + "," + callBody("2", "hang", "") + "," + cancel("2") + "," + cancelOne + "]", 202},
		"one cancelled":          {"[" + hang + "," + pinged + "," + cancelOne + "]", 200},
		"an id twice, cancelled": {"[" + hang + "," + callBody("1", "echo", "x") + "," + cancelOne + "]", 202},
		"a notification":         {"[" + initialized + "]", 202},
		"no message":             {"[5]", 200},
		"a batch within":         {"[[" + pinged + "]]", 200},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newBubble(t)
				session := f.march()
				for range 2 {
					f.want(f.post(c.batch, session), c.status)
				}
				f.want(f.post(callBody("1", "echo", "again"), session), 200, "again")
				synctest.Wait()
				f.wantNothingIn(session)
			})
		})
	}
}

// wantNothingIn fails if the session has a request or a stream.
func (f *fixture) wantNothingIn(session string) {
	f.t.Helper()
	_, id, _ := strings.Cut(session, ": ")
	f.h.mu.Lock()
	s := f.h.roster.sessions[id]
	f.h.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active.size()+s.streams.size() > 0 {
		f.t.Errorf("%d requests and %d streams are left", s.active.size(), s.streams.size())
	}
}

// An answer that can not wait for its batch is sent also if nothing else of the batch is answered, and it comes before the batch was received.
func TestCAN24AnAnswerThatComesBeforeItsBatchWasReceivedIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		large, received := strings.Repeat("x", 1<<20), make(chan struct{})
		f := newBubble(t)
		f.srv = newServer(t, []server.Tool{tool("large", func(context.Context, *server.Call, *input) (*output, error) { return &output{large}, nil })},
			server.WithMaxBytesInFlight(1<<20), server.WithMiddleware(func(next server.Handle) server.Handle {
				return func(ctx context.Context, m *server.Message) (*server.MessageResult, error) {
					if m.Method == "notifications/roots/list_changed" {
						<-received
					}
					return next(ctx, m)
				}
			}))
		f.h = Handler(f.srv)
		session := f.march()
		got := make(chan *http.Response)
		go func() {
			got <- f.post(`[`+callBody("1", "large", "")+`,{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]`, session)
		}()
		synctest.Wait()
		close(received)
		f.want(<-got, 200, `[{"jsonrpc":"2.0","id":1,"result":`, large)
		f.want(f.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, session), 200, "{}")
	})
}

func TestCAN24OtherRevisionsRefuseBatchesOverHTTP(t *testing.T) {
	f := newFixture(t)
	session := f.initialize()
	f.want(f.post(twoPings, session), 400, "-32600", "batches are not supported")
	f.want(f.post(twoPings), 400, "-32600")
	f.want(f.post(twoPings, "MCP-Protocol-Version: 2025-11-25"), 400, "-32600", "batches are not supported")
	f.want(f.post(twoPings, headers2026("ping", "")...), 400, "-32600", "batches are not supported")
	f.want(f.post(twoPings, "Mcp-Session-Id: unknown"), 404)
}

// TestCAN24ABatchWithoutASessionIsToldThatOneIsMissing, like a single message, where there are batches.
func TestCAN24ABatchWithoutASessionIsToldThatOneIsMissing(t *testing.T) {
	f := newFixture(t)
	for _, body := range []string{twoPings, callBody("1", "echo", "x")} {
		for _, header := range []string{"X-Other: x", "MCP-Protocol-Version: 2025-03-26"} {
			f.want(f.post(body, header), 400, "-32600", "the header Mcp-Session-Id is missing")
		}
	}
}

// TestREV06StreamsOfRevisionsWithoutPrimingBeginWithAMessage: clients of that time take an event without data for a message.
func TestREV06StreamsOfRevisionsWithoutPrimingBeginWithAMessage(t *testing.T) {
	f := newFixture(t, WithPriming(0))
	session := f.march()
	s := f.events(f.post(callBody("1", "gate", "x"), session))
	<-f.began
	f.release <- struct{}{}
	if e, _ := s.next(); !strings.Contains(e.data, `"id":1`) {
		t.Errorf("the stream begins with %+v", e)
	}
	s.end()
}

// TestREV06AClientOfHTTPPlusSSEIsToldWhatThereIsInstead: the transport of 2024-11-05 begins with a GET, then posts to another address.
func TestREV06AClientOfHTTPPlusSSEIsToldWhatThereIsInstead(t *testing.T) {
	f := newFixture(t)
	const says = "HTTP+SSE transport of 2024-11-05 is not served"
	f.want(f.do(f.request(http.MethodGet, "", "Accept: text/event-stream")), 400, says, "Streamable HTTP")
	for _, address := range []string{"/messages", "/message?sessionId=1", "/?sessionId=1", "/mcp/messages/?session_id=1"} {
		r := f.request(http.MethodPost, initialized)
		r.URL.Path, r.URL.RawQuery, _ = strings.Cut(address, "?")
		f.want(f.do(r), 400, says)
	}
	if text := body(f.post(initialized)); strings.Contains(text, says) {
		t.Errorf("another client: %s", text)
	}
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// TestCAN24AnAnswerThatCameBeforeItsBatchIsNotDropped when nothing else of the batch is answered.
func TestCAN24AnAnswerThatCameBeforeItsBatchIsNotDropped(t *testing.T) {
	h := &Endpoint{opts: defaults(), roster: newRoster()}
	s := newSession(t.Context(), h, "id")
	about, id := rpc.StringID("batch"), rpc.IntID(1)
	st := s.batchStream(about, []rpc.ID{id, rpc.IntID(2)})
	reader := st.attach(-1)
	defer st.detach(reader)
	if err := s.Write(about, false, []byte(`{"id":1}`)); err != nil {
		t.Fatal(err)
	}
	_ = s.Write(about, true, nil) // the other one was cancelled
	if b := st.take(reader); len(b.events) != 1 || !b.ended {
		t.Errorf("%d events are sent, ended %v", len(b.events), b.ended)
	}
}
