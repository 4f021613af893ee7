package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

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

// sends finds that the client sends answers for the question, and none of its handler, before it answers a ping.
func (h *held) sends(answers ...string) {
	h.t.Helper()
	close(h.release)
	synctest.Wait()
	h.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	var sent []string
	for {
		m := h.next()
		switch {
		case m.Method == "notifications/cancelled":
			continue
		case string(m.ID) == `"ping"` && !slices.Equal(sent, answers):
			h.t.Errorf("the client sent %q, want %q", sent, answers)
			fallthrough
		case string(m.ID) == `"ping"`:
			return
		}
		sent = append(sent, m.raw)
	}
}

// dismissed is the answer that a question gets whose call is over.
const dismissed = `{"jsonrpc":"2.0","id":"q","result":{"action":"cancel"}}`

func TestCAN31AQuestionEndsWithATypedCause(t *testing.T) {
	for name, c := range map[string]struct {
		end     func(h *held)
		source  inflight.Source
		answers []string
	}{
		"withdrawn": {func(h *held) {
			h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q","reason":"never mind"}}`)
		}, inflight.SourcePeer, nil},
		"its call was answered":  {func(h *held) { h.answer(h.call, `{"content":[]}`) }, inflight.SourceParent, []string{dismissed}},
		"its call was cancelled": {func(h *held) { _ = h.s.CancelRequest(h.s.Requests()[0].ID, "") }, inflight.SourceParent, []string{dismissed}},
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
				h.sends(c.answers...)
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
		has(t, string(h.expect("notifications/cancelled").Params), `"requestId":`+string(h.call.ID))
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
		h.send(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"another?","requestedSchema":{"type":"object","properties":{}}}}`)
		if m := h.next(); m.Error == nil || m.Error.Code != rpc.CodeInvalidRequest {
			t.Error(m.raw)
		}
		for _, method := range []string{"ping", "tasks/list", "no/such"} {
			h.send(`{"jsonrpc":"2.0","id":"q","method":%q}`, method)
			if m := h.next(); m.Error == nil || m.Error.Code != rpc.CodeInvalidRequest {
				t.Error(method, m.raw)
			}
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

// However the call of a question of a result ends, the handler's context has a typed cause.
func TestCAN31AQuestionOfAResultEndsWithATypedCause(t *testing.T) {
	mine := errors.New("mine")
	for name, c := range map[string]struct {
		end func(s *client.Session, cancel context.CancelCauseFunc)
		is  error
	}{
		"its caller gives up":             {func(_ *client.Session, cancel context.CancelCauseFunc) { cancel(nil) }, context.Canceled},
		"its caller gives up for a cause": {func(_ *client.Session, cancel context.CancelCauseFunc) { cancel(mine) }, mine},
		"its caller's time has passed":    {func(*client.Session, context.CancelCauseFunc) { time.Sleep(time.Hour) }, context.DeadlineExceeded}, // of the bubble's clock
		"it is cancelled":                 {func(s *client.Session, _ context.CancelCauseFunc) { _ = s.CancelRequest(s.Requests()[0].ID, "") }, context.Canceled},
		"the session is closed":           {func(s *client.Session, _ context.CancelCauseFunc) { _ = s.Close() }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				s, p := meet(t, "2026-07-28", client.WithQuestionTimeout(0), elicits(func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
					<-ctx.Done()
					ended <- context.Cause(ctx)
					return nil, ctx.Err()
				}))
				deadline, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				ctx, cancel := context.WithCancelCause(deadline)
				done := start(ctx, s, "x")
				p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}}`)
				synctest.Wait()
				c.end(s, cancel)
				var cause *client.Cause
				if err := <-ended; !errors.As(err, &cause) || !errors.Is(err, c.is) {
					t.Errorf("the handler: %T %v", err, err)
				}
				if r := <-done; !errors.As(r.err, &cause) || !errors.Is(r.err, c.is) {
					t.Errorf("the call: %T %v", r.err, r.err)
				}
				cancel(nil)
			})
		})
	}
}

// The question of a result is over with the connection, and its call says that and no other reason.
func TestCAN31AQuestionEndsWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meet(t, "2026-07-28", elicits(func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		done := start(t.Context(), s, "x")
		p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}}`)
		synctest.Wait()
		_ = p.conn.Close()
		var lost *client.TransportError
		if r := <-done; !errors.As(r.err, &lost) || !strings.Contains(r.err.Error(), "the server closed the connection") {
			t.Errorf("%v", r.err)
		}
	})
}

// A handler's failure ends the call of a question of a result with an error that is no answer of the server, even if it is an *Error of the handler's own.
func TestAQuestionOfAResultThatIsNotAnsweredEndsItsCall(t *testing.T) {
	mine, own := errors.New("terminal lost"), &client.Error{Code: 7, Message: "no"}
	for says, elicit := range map[string]func(context.Context, *client.Question) (*client.Answer, error){
		"terminal lost":     func(context.Context, *client.Question) (*client.Answer, error) { return nil, mine },
		"no (code 7)":       func(context.Context, *client.Question) (*client.Answer, error) { return nil, own },
		"neither an answer": func(context.Context, *client.Question) (*client.Answer, error) { return nil, nil },
		"n is required": func(context.Context, *client.Question) (*client.Answer, error) {
			return &client.Answer{Action: client.Accepted}, nil
		},
	} {
		s, p := meet(t, "2026-07-28", elicits(elicit))
		done := start(t.Context(), s, "x")
		p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}}}`)
		r := <-done
		var cause *client.Cause
		if !errors.As(r.err, &cause) || cause.Source != inflight.SourceParent || says == "terminal lost" && !errors.Is(r.err, mine) {
			t.Errorf("%T %v", r.err, r.err)
		}
		if r.err != nil && (!strings.Contains(r.err.Error(), "what the call has asked was not answered") || !strings.Contains(r.err.Error(), says)) {
			t.Error(r.err)
		}
	}
}

// Nobody is asked a question of a result another of which can not be asked: the answer would be for nothing.
func TestNobodyIsAskedInVain(t *testing.T) {
	s, p := meet(t, "2026-07-28", elicits(func(context.Context, *client.Question) (*client.Answer, error) {
		t.Error("somebody is asked")
		return &client.Answer{Action: client.Declined}, nil
	}))
	done := start(t.Context(), s, "x")
	p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}},"b":{"method":"sampling/createMessage","params":{}}}}`)
	var bad *client.ProtocolError
	if r := <-done; !errors.As(r.err, &bad) {
		t.Error(r.err)
	}
}
