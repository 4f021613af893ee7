package server

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

func subscribing(id, method string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"resources/` + method + `","params":{"uri":"test://a"}}`
}

// EXT13: a change that waits when the session unsubscribes is not told any more.
func TestEXT13NothingIsToldAfterTheAnswerToUnsubscribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan struct{})
		codec := MethodCodec[resourceParams, struct{}]{Decode: decodeResource}
		agree := func(context.Context, *Call, *resourceParams) error { return nil }
		f := dual(t, Definition{Methods: []MethodHandler{
			BindAck("resources/subscribe", agree, codec), BindAck("resources/unsubscribe", agree, codec), resources(),
		}}, wrapping("notifications/resources/updated", func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
			<-told
			return next(ctx, m)
		}))
		c := f.dial(t.Context())
		c.initialize(nothing)
		c.send(subscribing("1", "subscribe"))
		c.answer("1")
		f.srv.ResourceUpdated("test://a")
		synctest.Wait()
		c.send(subscribing("2", "unsubscribe"))
		c.answer("2")
		close(told)
		synctest.Wait()
		for _, m := range c.fence() {
			t.Errorf("told after the answer: %s", m.raw)
		}
		c.close()
	})
}

// EXT13: the answer to resources/unsubscribe waits for a notification that is being written.
func TestEXT13TheAnswerToUnsubscribeWaitsForWhatIsBeingTold(t *testing.T) {
	codec := MethodCodec[resourceParams, struct{}]{Decode: decodeResource}
	agree := func(context.Context, *Call, *resourceParams) error { return nil }
	f := dual(t, Definition{Methods: []MethodHandler{
		BindAck("resources/subscribe", agree, codec), BindAck("resources/unsubscribe", agree, codec), resources(),
	}})
	near, far := rpc.Pipe()
	slow := &slowConn{Conn: far, text: []byte("notifications/resources/updated"), held: make(chan struct{}, 1), free: make(chan struct{})}
	c := f.connect(t.Context(), near, slow)
	c.initialize(nothing)
	c.send(subscribing("1", "subscribe"))
	c.answer("1")
	f.srv.ResourceUpdated("test://a")
	<-slow.held
	c.send(subscribing("2", "unsubscribe"))
	for gate := &f.srv.onlyPeer().gate; len(c.frames) == 0 && gate.TryRLock(); runtime.Gosched() {
		gate.RUnlock() // until the answer waits, or was written
	}
	close(slow.free)
	if first, second := c.next(), c.next(); first.Method != "notifications/resources/updated" || string(second.ID) != "2" {
		t.Errorf("%s\n%s", first.raw, second.raw)
	}
	c.close()
}
