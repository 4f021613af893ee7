package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

type confirmation struct{ Yes bool }

var (
	yesOnly = check.Object{Names: []string{"yes"}, Required: []string{"yes"}, AdditionalProperties: check.Refuse}
	confirm = server.Question[confirmation]{
		Name: "confirm", Message: "Really?", Schema: `{"type":"object","properties":{"yes":{"type":"boolean","default":true}},"required":["yes"]}`,
		Decode: func(d *check.Decoder, v *confirmation) {
			for f := d.Object(&yesOnly); f >= 0; f = d.Next() {
				v.Yes = d.Bool(nil)
			}
		},
	}
)

// ask says what the user answered.
func ask(ctx context.Context, call *server.Call, _ *input) (*output, error) {
	a, err := server.Ask(ctx, call, &confirm, "")
	if err != nil {
		return nil, err
	}
	return &output{fmt.Sprint(a.Action, " ", a.Value.Yes)}, nil
}

// modern are the revisions in which users can be asked.
func modern(revision string) bool { return revision >= "2025-06-18" }

func elicits(f func(ctx context.Context, q *client.Question) (*client.Answer, error)) client.Option {
	return client.WithHandlers(client.Handlers{Elicit: f})
}

func accept(context.Context, *client.Question) (*client.Answer, error) {
	return &client.Answer{Action: client.Accepted}, nil
}

// transports dial a server in their own way.
var transports = map[string]func(t testing.TB, srv *server.Server, opts ...client.Option) *client.Session{
	"pipe": dial,
	"HTTP": func(t testing.TB, srv *server.Server, opts ...client.Option) *client.Session {
		return dialHTTP(t, serve(t, srv), opts...)
	},
}

// One handler answers in every revision, however the question comes; defaults are filled in.
func TestCAN23OneHandlerAnswersInEveryRevision(t *testing.T) {
	for name, dial := range transports {
		each(t, func(t *testing.T, revision string) {
			if !modern(revision) {
				return
			}
			var asked []*client.Question
			s := dial(t, newServer(t, []server.Tool{tool("ask", ask)}), client.WithRevision(revision), elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				asked = append(asked, q)
				return accept(ctx, q)
			}))
			r, err := s.CallTool(t.Context(), "ask", nil)
			if err != nil {
				t.Fatal(name, err)
			}
			has(t, string(r.Raw), "accept true")
			if len(asked) != 1 || asked[0].Message != "Really?" || asked[0].Server != "test" {
				t.Errorf("%s: asked %+v", name, asked)
			}
		})
	}
}

// about leaves a moment for a server that waits for further questions before it asks.
func about(took, want time.Duration) bool { return took >= want && took < want+time.Second }

// The clock of a call stands while its question is open (CAN28); the question has a limit of its own, after which the server is answered.
func TestCAN28TheTimeOfAPersonCountsInNoTimeout(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		if !modern(revision) {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			srv := newServer(t, []server.Tool{tool("ask", ask)})
			slow := func(d time.Duration) func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				return func(ctx context.Context, q *client.Question) (*client.Answer, error) {
					select {
					case <-time.After(d):
						return accept(ctx, q)
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}
			}
			s := dial(t, srv, client.WithRevision(revision), client.WithTimeout(time.Second, 2*time.Second), elicits(slow(5*time.Minute)))
			began := time.Now()
			if r, err := s.CallTool(t.Context(), "ask", nil); err != nil || !about(time.Since(began), 5*time.Minute) {
				t.Errorf("%v, %v after %v", r, err, time.Since(began))
			}
		})
	})
}

func TestCAN28AQuestionHasALimitOfItsOwn(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		synctest.Test(t, func(t *testing.T) {
			var gone error
			ended := make(chan error, 1)
			s := dial(t, newServer(t, []server.Tool{tool("ask", ask)}), client.WithRevision(revision), client.WithTimeout(time.Second, 0), client.WithQuestionTimeout(time.Minute),
				client.WithHandlers(client.Handlers{
					Elicit: func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
						<-ctx.Done()
						ended <- context.Cause(ctx)
						return accept(ctx, nil)
					},
					QuestionGone: func(_ *client.Question, cause error) { gone = cause },
				}))
			began := time.Now()
			r, err := s.CallTool(t.Context(), "ask", nil)
			var cause *client.Cause
			if cause := <-ended; !errors.Is(cause, context.DeadlineExceeded) {
				t.Errorf("the handler's context ended with %v", cause)
			}
			switch {
			case !about(time.Since(began), time.Minute):
				t.Errorf("%s: after %v", revision, time.Since(began))
			case revision == "2025-11-25" && err != nil:
				t.Error(err)
			case revision == "2025-11-25":
				has(t, string(r.Raw), "cancel false") // the server was told that the user gave no answer
			case !errors.As(err, &cause) || cause.Source != inflight.SourceTimeout:
				t.Errorf("%s: %v", revision, err)
			}
			synctest.Wait()
			if !errors.Is(gone, context.DeadlineExceeded) {
				t.Errorf("%s: gone because of %v", revision, gone)
			}
		})
	}
}

// held is a session of 2025-11-25 with a call and a question of it that is open.
type held struct {
	*peer
	s        *client.Session
	call     message
	done     <-chan result
	question context.Context
	gone     chan error
	release  chan struct{} // lets the handler return
}

func hold(t *testing.T, opts ...client.Option) *held {
	h := &held{gone: make(chan error, 1), release: make(chan struct{})}
	open := make(chan context.Context, 1)
	opts = append(opts, client.WithHandlers(client.Handlers{
		Elicit: func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
			open <- ctx
			<-h.release
			return &client.Answer{Action: client.Declined}, nil
		},
		QuestionGone: func(_ *client.Question, cause error) { h.gone <- cause },
	}))
	h.s, h.peer = meet(t, "2025-11-25", opts...)
	h.done = start(t.Context(), h.s, "x")
	h.call = h.expect("tools/call")
	h.send(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`)
	h.question = <-open
	return h
}

// silent finds that the next message of the client is the answer to a ping: nothing was sent for the question.
func (h *held) silent() {
	h.t.Helper()
	close(h.release)
	synctest.Wait()
	h.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	for {
		m := h.next()
		if m.Method == "notifications/cancelled" {
			continue
		}
		if string(m.ID) != `"ping"` {
			h.t.Errorf("the client sent %s", m.raw)
		}
		return
	}
}

func TestCAN31AQuestionEndsWithATypedCause(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(h *held)
		source inflight.Source
	}{
		"taken back": {func(h *held) {
			h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q","reason":"never mind"}}`)
		}, inflight.SourcePeer},
		"its call was answered":  {func(h *held) { h.answer(h.call, `{"content":[]}`) }, inflight.SourceParent},
		"its call was cancelled": {func(h *held) { _ = h.s.CancelRequest(h.s.Requests()[0].ID, "") }, inflight.SourceParent},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := hold(t)
				c.end(h)
				<-h.question.Done()
				for _, err := range []error{context.Cause(h.question), <-h.gone} {
					var cause *client.Cause
					if !errors.As(err, &cause) || cause.Source != c.source || !errors.Is(err, context.Canceled) {
						t.Errorf("%v", err)
					}
				}
				h.silent()
				if c.source == inflight.SourcePeer {
					h.answer(h.call, `{"content":[]}`)
				}
				<-h.done
			})
		})
	}
}

func TestCAN31QuestionsEndWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hold(t)
		go func() {
			<-h.question.Done()
			close(h.release)
		}()
		if err := h.s.Close(); err != nil {
			t.Error(err)
		}
		var cause *client.Cause
		if err := <-h.gone; !errors.As(err, &cause) || cause.Source != inflight.SourceShutdown {
			t.Errorf("%v", err)
		}
		for {
			frame, err := h.conn.ReadFrame(nil)
			if err != nil {
				break
			}
			t.Errorf("the client sent %s", frame)
		}
	})
}

// An id that is open, one of another type, and an unknown one.
func TestCAN23QuestionsAreTrackedByTheirIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hold(t)
		h.send(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`)
		if m := h.next(); m.Error == nil || m.Error.Code != rpc.CodeInvalidRequest {
			t.Error(m.raw)
		}
		for _, id := range []string{`1`, `"p"`, `null`, `{}`} {
			h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
		}
		h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
		synctest.Wait()
		if h.question.Err() != nil {
			t.Error(context.Cause(h.question))
		}
		close(h.release)
		if m := h.next(); string(m.Result) != `{"action":"decline"}` {
			t.Error(m.raw)
		}
		h.answer(h.call, `{"content":[]}`)
		<-h.done
	})
}

// Over HTTP a question belongs to the request on whose stream it came, whatever else is in flight.
func TestCAN31OverHTTPAQuestionBelongsToItsStream(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		if !modern(revision) {
			return
		}
		open, gone := make(chan context.Context, 1), make(chan error, 1)
		srv := newServer(t, []server.Tool{tool("ask", ask), tool("hang", hang)})
		s := dialHTTP(t, serve(t, srv), client.WithRevision(revision), client.WithHandlers(client.Handlers{
			Elicit: func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
				open <- ctx
				<-ctx.Done()
				return nil, ctx.Err()
			},
			QuestionGone: func(_ *client.Question, cause error) { gone <- cause },
		}))
		other, stop := context.WithCancel(t.Context())
		defer stop()
		hanging := start(other, s, "hang")
		ctx, cancel := context.WithCancel(t.Context())
		asking := start(ctx, s, "ask")
		<-open
		cancel()
		if r := <-asking; !errors.Is(r.err, context.Canceled) {
			t.Error(r.err)
		}
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		stop()
		<-hanging
	})
}

func TestQuestionsThatWereNotDeclared(t *testing.T) {
	all := client.Handlers{Elicit: accept, Sample: func(context.Context, *client.Question) (json.RawMessage, error) { return nil, client.ErrRejected }}
	for _, c := range []struct {
		handlers       client.Handlers
		method, params string
		code           int
	}{
		{client.Handlers{}, "elicitation/create", `{"message":"?"}`, rpc.CodeMethodNotFound},
		{client.Handlers{}, "roots/list", `{}`, rpc.CodeMethodNotFound},
		{all, "elicitation/create", `{"mode":"url","message":"?","url":"https://example.com","elicitationId":"1"}`, rpc.CodeInvalidParams},
		{client.Handlers{OpenURL: accept}, "elicitation/create", `{"message":"?","requestedSchema":{}}`, rpc.CodeInvalidParams},
		{client.Handlers{OpenURL: accept}, "elicitation/create", `{"mode":"url","message":"?","url":"javascript:alert(1)","elicitationId":"1"}`, rpc.CodeInvalidParams},
		{all, "sampling/createMessage", `{"messages":[],"maxTokens":1}`, -1},
		{all, "sampling/createMessage", `{"messages":[],"maxTokens":1,"tools":[]}`, rpc.CodeInvalidParams},
		{all, "sampling/createMessage", `{"messages":[{"role":"assistant","content":{"type":"tool_use","id":"1"}}],"maxTokens":1}`, rpc.CodeInvalidParams},
		{all, "sampling/createMessage", `{"messages":[{"role":"user","content":[{"type":"tool_result","toolUseId":"1"},{"type":"text"}]}],"maxTokens":1}`, rpc.CodeInvalidParams},
		{client.Handlers{Roots: func(context.Context, *client.Question) ([]client.Root, error) {
			return []client.Root{{URI: "https://x"}}, nil
		}},
			"roots/list", `{}`, rpc.CodeInternalError},
	} {
		_, p := meet(t, "2025-11-25", client.WithHandlers(c.handlers))
		p.send(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, c.method, c.params)
		if m := p.next(); m.Error == nil || m.Error.Code != c.code {
			t.Errorf("%s %s: %s, want %d", c.method, c.params, m.raw, c.code)
		}
	}
}

func TestAnswersAreHeldAgainstTheForm(t *testing.T) {
	q := &client.Question{Schema: json.RawMessage(`{"type":"object","required":["name"],"properties":{
		"name":{"type":"string","minLength":2,"maxLength":5},"age":{"type":"integer","minimum":0,"maximum":150,"default":30},
		"mail":{"type":"string","format":"email"},"day":{"type":"string","format":"date"},"ok":{"type":"boolean"},
		"one":{"type":"string","enum":["a","b"]},"titled":{"type":"string","oneOf":[{"const":"x","title":"X"}]},
		"many":{"type":"array","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"p"},{"const":"q"}]}}}}`)}
	for content, want := range map[string]string{
		`{"name":"größe"}`:                               `{"age":30,"name":"größe"}`,
		`{"name":"ab","age":7.0,"one":"b","many":["p"]}`: `{"age":7.0,"many":["p"],"name":"ab","one":"b"}`,
		`{}`:                            "name is required",
		`{"name":"a"}`:                  "at least 2",
		`{"name":"abcdef"}`:             "at most 5",
		`{"name":7}`:                    "type string",
		`{"name":"ab","age":1.5}`:       "no integer",
		`{"name":"ab","age":151}`:       "at most 150",
		`{"name":"ab","mail":"x"}`:      "mail",
		`{"name":"ab","day":"today"}`:   "day",
		`{"name":"ab","ok":"yes"}`:      "type boolean",
		`{"name":"ab","one":"c"}`:       "none of the choices",
		`{"name":"ab","titled":"y"}`:    "none of the choices",
		`{"name":"ab","many":[]}`:       "at least 1",
		`{"name":"ab","many":["z"]}`:    "none of the choices",
		`{"name":"ab","more":1}`:        "no field more",
		`{"name":"ab","ok":{"a":true}}`: "no type that a form has",
		`[]`:                            "must be an object",
	} {
		got, err := q.Complete(json.RawMessage(content))
		if err != nil {
			has(t, err.Error(), want)
		} else if string(got) != want {
			t.Errorf("%s: %s, want %s", content, got, want)
		}
	}
}

// Every question of a result is answered before the call goes on, and the state goes back byte for byte, to this call alone.
func TestEXT17TheStateGoesBackAsItCame(t *testing.T) {
	s, p := meet(t, "2026-07-28", client.WithHandlers(client.Handlers{
		Elicit: accept, Roots: func(context.Context, *client.Question) ([]client.Root, error) {
			return []client.Root{{URI: "file:///a"}}, nil
		},
	}))
	done := start(t.Context(), s, "x")
	first := p.expect("tools/call")
	other := start(t.Context(), s, "y")
	unrelated := p.expect("tools/call")
	state := `"\u0041 é\/<>\ud83d\ude00"`
	p.answer(first, `{"resultType":"input_required","requestState":`+state+`,"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}},"b":{"method":"roots/list"}}}`)
	second := p.expect("tools/call")
	has(t, second.raw, `"requestState":`+state, `"a":{"action":"accept","content":{}}`, `"b":{"roots":[{"uri":"file:///a"}]}`)
	if string(second.ID) == string(first.ID) {
		t.Error("the id is the same")
	}
	p.answer(unrelated, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}}`)
	if m := p.expect("tools/call"); json.Valid(m.Params) && containsState(m.raw) {
		t.Error(m.raw)
	} else {
		p.answer(m, `{"content":[]}`)
	}
	<-other
	p.answer(second, `{"resultType":"input_required","inputRequests":{"c":{"method":"roots/list"}}}`)
	third := p.expect("tools/call")
	if containsState(third.raw) {
		t.Error(third.raw)
	}
	p.answer(third, `{"content":[]}`)
	if r := <-done; r.err != nil {
		t.Error(r.err)
	}
}

func containsState(frame string) bool {
	var m struct{ Params map[string]json.RawMessage }
	_ = json.Unmarshal([]byte(frame), &m)
	return m.Params["requestState"] != nil
}

func TestACallThatWaitsForAnAnswerCanBeCancelled(t *testing.T) {
	open := make(chan struct{})
	s, p := meet(t, "2026-07-28", elicits(func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
		close(open)
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	done := start(t.Context(), s, "x")
	p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?"}}}}`)
	<-open
	all := s.Requests()
	if len(all) != 1 || !all[0].Waiting {
		t.Fatalf("%+v", all)
	}
	if err := s.CancelRequest(all[0].ID, "enough"); err != nil {
		t.Error(err)
	}
	var cause *client.Cause
	if r := <-done; !errors.As(r.err, &cause) || cause.Source != inflight.SourceCaller {
		t.Error(r.err)
	}
}

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
