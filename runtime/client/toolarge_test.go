package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// frameLimit is the largest frame that a session of meetLimited reads.
const frameLimit = 1 << 10

// tooMuch is a JSON string that no frame has room for.
var tooMuch = `"` + strings.Repeat("x", 4*frameLimit) + `"`

// meetLimited is meet for a session that reads only small frames.
func meetLimited(t testing.TB, revision string, opts ...client.Option) (*client.Session, *peer) {
	t.Helper()
	fromServer, serverWrites := io.Pipe()
	fromClient, clientWrites := io.Pipe()
	ours := rpc.Lines(fromServer, clientWrites, closeBoth{fromServer, clientWrites}, rpc.LineOptions{MaxFrame: frameLimit})
	theirs := rpc.Lines(fromClient, serverWrites, closeBoth{fromClient, serverWrites}, rpc.LineOptions{})
	return meetOver(t, ours, theirs, revision, offers, opts...)
}

type closeBoth struct{ a, b io.Closer }

// Close implements io.Closer.
func (c closeBoth) Close() error { return errors.Join(c.a.Close(), c.b.Close()) }

// tellsTheLimit reports whether a call ended because its answer was too large, with an error that says how that can be helped, and does not blame the server.
func tellsTheLimit(r result) bool {
	var broke *client.ProtocolError
	var large *rpc.FrameError
	var with *client.RemedyError
	helps := errors.As(r.err, &with) && with.Remedy == client.RaiseMaxFrame && !strings.Contains(r.err.Error(), "broke")
	return helps && errors.As(r.err, &broke) && broke.Method == "tools/call" && errors.As(r.err, &large) && strings.Contains(r.err.Error(), fmt.Sprint(frameLimit))
}

// An answer that is too large ends its call alone, at once and with an error that says why.
func TestCAN30AnAnswerThatIsTooLargeEndsItsCallAlone(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetLimited(t, revision)
			large := start(t.Context(), s, "large")
			first := p.expect("tools/call")
			other := start(t.Context(), s, "other")
			second := p.expect("tools/call")
			p.send(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`, first.ID, tooMuch)
			if r := <-large; !tellsTheLimit(r) {
				t.Errorf("%v", r.err)
			}
			p.answer(second, complete(revision, "fine"))
			if r := <-other; r.err != nil || r.Text() != "fine" {
				t.Errorf("the other call: %v", r.err)
			}
		})
	})
}

// The id may stand behind what is too much. Where it can not be told, the only call that can be meant ends; of several, none does for what may be
// another's.
func TestCAN30AnAnswerThatIsTooLargeForItsID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetLimited(t, "2025-11-25")
		answer := func(m message, more string) {
			p.send(`{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"%s"}]},"id":%s%s}`, strings.Repeat("x", 128<<10), m.ID, more)
		}
		const untold = `,"id":"another"`
		only := start(t.Context(), s, "only")
		answer(p.expect("tools/call"), untold)
		if r := <-only; !tellsTheLimit(r) {
			t.Errorf("the only call: %v", r.err)
		}
		one, m := start(t.Context(), s, "one"), p.expect("tools/call")
		two, n := start(t.Context(), s, "two"), p.expect("tools/call")
		meant, k := start(t.Context(), s, "meant"), p.expect("tools/call")
		answer(k, "")
		if r := <-meant; !tellsTheLimit(r) {
			t.Errorf("the call that is meant: %v", r.err)
		}
		answer(m, untold)
		p.answer(n, complete("2025-11-25", "fine"))
		if r := <-two; r.err != nil {
			t.Errorf("a call that was answered: %v", r.err)
		}
		go p.each(func(message) {}) // it hears that a call was given up
		var cause *client.Cause
		if r := <-one; !errors.As(r.err, &cause) || cause.Source != inflight.SourceTimeout {
			t.Errorf("a call whose answer can not be told from another's: %v", r.err)
		}
	})
}

// What the server asks is refused by its id if it is too large, and what it tells is dropped: neither meets a call.
func TestCAN30WhatTheServerAsksOrTellsTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetLimited(t, "2025-11-25", elicits(func(context.Context, *client.Question) (*client.Answer, error) {
			t.Error("a question arrived that nobody can have read")
			return nil, nil
		}))
		done := start(t.Context(), s, "x")
		call := p.expect("tools/call")
		p.send(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":%s,"requestedSchema":{"type":"object","properties":{}}}}`, tooMuch)
		refused := p.next()
		if string(refused.ID) != `"q"` || refused.Error == nil || refused.Error.Code != rpc.CodeInvalidRequest || !strings.Contains(refused.Error.Message, fmt.Sprint(frameLimit)) {
			t.Errorf("the question was answered %s", refused.raw)
		}
		p.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%s}}`, tooMuch)
		p.answer(call, complete("2025-11-25", "fine"))
		if r := <-done; r.err != nil || r.Text() != "fine" {
			t.Errorf("the call: %v", r.err)
		}
	})
}
