package server

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

type resourceParams struct{ uri string }

var resourceRule = check.Object{Names: []string{"uri"}, Required: []string{"uri"}, AdditionalProperties: check.Skip}

func decodeResource(d *check.Decoder, p *resourceParams) {
	for f := d.Object(&resourceRule); f >= 0; f = d.Next() {
		p.uri = d.String(nil)
	}
}

// watching serves resources, and tells which of them it is to watch.
func watching(t *testing.T) (f *fixture, told chan string) {
	told = make(chan string, 100)
	note := func(what string) func(context.Context, *Call, *resourceParams) error {
		return func(ctx context.Context, call *Call, in *resourceParams) error {
			if _, err := Send(ctx, call, &roots, "roots", &noInput{}); !errors.Is(err, ErrUnsupported) || ctx.Err() != nil {
				t.Errorf("a subscription asks: %v, %v", err, ctx.Err())
			}
			if _, err := Do(ctx, call, "step", give(1)); err != nil { // although the request of an ended subscription is over
				t.Error(err)
			}
			switch in.uri {
			case "test://none":
				return &ResourceError{URI: in.uri}
			case "test://panic":
				panic("no")
			}
			told <- what + " " + in.uri + " for " + call.Principal()
			return nil
		}
	}
	codec := MethodCodec[resourceParams, struct{}]{Decode: decodeResource}
	return dual(t, Definition{Methods: []MethodHandler{
		BindAck("resources/subscribe", note("on"), codec), BindAck("resources/unsubscribe", note("off"), codec), resources(),
	}}), told
}

// An application that begins to watch when it is told hears of subscriptions of every revision, and of their ends.
func TestEXT13TheApplicationIsToldOfWhatSubscriptionsName(t *testing.T) {
	for end, stop := range map[string]func(f *fixture, l *listening){
		"disconnect": func(_ *fixture, l *listening) { l.cancel() },
		"server":     func(f *fixture, l *listening) { f.srv.endListens(nil) },
	} {
		f, told := watching(t)
		l, ack := f.listen(as(t, "me"), everyAsk, `{"resourceSubscriptions":["test://a","test://none","test://b","test://a","test://panic"]}`)
		if got := ack.field("params", "notifications", "resourceSubscriptions"); got != `["test://a","test://b"]` {
			t.Errorf("what the handler refuses is not honoured: %s", ack.raw)
		}
		for _, want := range []string{"on test://a for me", "on test://b for me"} {
			if got := <-told; got != want {
				t.Errorf("%s: want %q, got %q", end, want, got)
			}
		}
		f.srv.ResourceUpdated("test://none")
		f.srv.ResourceUpdated("test://b")
		if m := l.take(); m.str("params", "uri") != "test://b" {
			t.Error(m.raw)
		}
		stop(f, l)
		<-l.done
		for _, want := range []string{"off test://a for me", "off test://b for me"} {
			if got := <-told; got != want {
				t.Errorf("%s: want %q, got %q", end, want, got)
			}
		}
		if len(told) > 0 {
			t.Errorf("%s: and %q", end, <-told)
		}
	}
}

func TestEXT13ACancelledSubscriptionIsNotWatchedAnyMore(t *testing.T) {
	f, told := watching(t)
	c := f.dial(as(t, "me"))
	c.send(frame(5, "subscriptions/listen", nothing, `"notifications":{"resourceSubscriptions":["test://a"]}`))
	if got := <-told; got != "on test://a for me" {
		t.Error(got)
	}
	c.next()
	c.cancel("5")
	if got := <-told; got != "off test://a for me" {
		t.Error(got)
	}
}

// An application that hangs when it is told of an end holds up nobody for longer than the grace period.
func TestEXT13UnsubscribingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context, _ *Call, _ *resourceParams) error { <-ctx.Done(); return ctx.Err() }
		watch := func(context.Context, *Call, *resourceParams) error { return nil }
		codec := MethodCodec[resourceParams, struct{}]{Decode: decodeResource}
		f := dual(t, Definition{Methods: []MethodHandler{
			BindAck("resources/subscribe", watch, codec), BindAck("resources/unsubscribe", hang, codec), resources(),
		}}, WithGrace(3*time.Second))
		l, _ := f.listen(t.Context(), everyAsk, `{"resourceSubscriptions":["test://a","test://b"]}`)
		began := time.Now()
		l.cancel()
		<-l.done
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("the subscription ended after %v", took)
		}
	})
}

// Within a session, the application hears of a resource once, however often it is subscribed to.
func TestEXT13SessionsSubscribeInPairs(t *testing.T) {
	f, told := watching(t)
	c := f.dial(as(t, "me"))
	c.initialize(nothing)
	for i, method := range []string{"unsubscribe", "subscribe", "subscribe", "unsubscribe", "unsubscribe"} {
		c.request(fmt.Sprint(i), "resources/"+method, `{"uri":"test://a"}`).wantNoError(t)
	}
	c.close()
	if a, b := <-told, <-told; a != "on test://a for me" || b != "off test://a for me" || len(told) > 0 {
		t.Errorf("%q, %q and %d more", a, b, len(told))
	}
}

// A subscription that was cancelled while the application was told of it is none.
func TestCAN03ACancelledSubscribeLeavesNothing(t *testing.T) {
	told, agreed := make(chan string, 2), make(chan struct{})
	codec := MethodCodec[resourceParams, struct{}]{Decode: decodeResource}
	f := dual(t, Definition{Methods: []MethodHandler{
		BindAck("resources/subscribe", func(ctx context.Context, _ *Call, in *resourceParams) error {
			told <- "on " + in.uri
			<-ctx.Done()
			<-agreed
			return nil
		}, codec),
		BindAck("resources/unsubscribe", func(_ context.Context, _ *Call, in *resourceParams) error {
			told <- "off " + in.uri
			return nil
		}, codec),
		resources(),
	}})
	c := f.dial(t.Context())
	c.initialize(nothing)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://a"}}`)
	<-told
	c.cancel("1")
	c.fence()
	close(agreed)
	if got := <-told; got != "off test://a" {
		t.Error(got)
	}
	f.srv.ResourceUpdated("test://a")
	if got := c.fence(); len(got) != 0 {
		t.Errorf("a cancelled subscription hears %s", got[0].raw)
	}
	c.close()
}

// A session that ends unsubscribes from what it did not unsubscribe from itself.
func TestEXT13TheEndOfASessionUnsubscribes(t *testing.T) {
	f, told := watching(t)
	c := f.dial(as(t, "me"))
	c.initialize(nothing)
	for i, method := range []string{"resources/subscribe", "resources/subscribe", "resources/subscribe", "resources/unsubscribe"} {
		c.request(fmt.Sprint(i), method, fmt.Sprintf(`{"uri":"test://%c"}`, "abca"[i]))
	}
	for range 4 {
		<-told
	}
	c.close()
	for _, want := range []string{"off test://b for me", "off test://c for me"} {
		select {
		case got := <-told:
			if got != want {
				t.Errorf("want %q, got %q", want, got)
			}
		default:
			t.Fatalf("want %q, got nothing", want)
		}
	}
	if len(told) > 0 {
		t.Errorf("and %q", <-told)
	}
}

// What the user does on a page is told as done, in the revision that has a message for it.
func TestSRV08TSK13LET08ElicitationCompleteIsTold(t *testing.T) {
	page := ClientRequest[noInput, noInput]{Op: wire.OpElicit, Codecs: rawCodec(`{"mode":"url","message":"?","url":"https://example.com","elicitationId":"e-1"}`)}
	w := wiretest.Revision20251125()
	srv, err := New(Definition{Name: "test", Version: "1", Runtime: Generation1, Revisions: []*wire.Revision{w, wiretest.Revision20260728()}, Tools: []Tool{
		tool("login", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			_, err := Send(ctx, call, &page, "page", &noInput{})
			return &echoOutput{"done"}, errors.Join(err, call.ElicitationComplete(ctx, "e-1"))
		}), withTask(TaskOptional)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, srv: srv}
	t.Cleanup(func() { _ = srv.Shutdown(context.Background()) })
	c := f.dial(t.Context())
	const pages = `{"elicitation":{"url":{}}}`
	c.initialize(pages)
	for _, asTask := range []bool{false, true} {
		params := `{"elicitationId":"e-1"}`
		if asTask { // TSK13, LET08
			id := c.start("2", "login", "")
			params = `{"_meta":{"io.modelcontextprotocol/related-task":` + taskID(id) + `},"elicitationId":"e-1"}`
		} else {
			c.call("1", "login", `{}`)
		}
		c.reply(c.nextRequest(), `{"action":"accept"}`)
		for {
			m := c.next()
			if m.Method == "notifications/elicitation/complete" {
				if string(m.Params) != params {
					t.Errorf("task %v: want %s, got %s", asTask, params, m.raw)
				}
				break
			}
			if m.Method == "" || m.str("params", "status") == "completed" {
				t.Fatalf("task %v: not told before %s", asTask, m.raw)
			}
		}
		if !asTask {
			c.answer("1")
		}
	}
	_, _, state := f.try(t.Context(), pages, "login", `{}`, "")
	if m, _, _ := f.try(t.Context(), pages, "login", `{}`, answering(state, `{"page":{"action":"accept"}}`)); m.str("result", "structuredContent", "text") != "done" {
		t.Error(m.raw)
	}
}

// TestLET06ASubscriptionThatCanNotBeKeptIsRefused: what is acknowledged is kept, and the handler that agreed is told of what is not.
func TestLET06ASubscriptionThatCanNotBeKeptIsRefused(t *testing.T) {
	told := make(chan string, maxSubscribed+10)
	note := func(what string) func(context.Context, *Call, *resourceParams) error {
		return func(_ context.Context, _ *Call, in *resourceParams) error {
			told <- what + " " + in.uri
			return nil
		}
	}
	codec := MethodCodec[resourceParams, struct{}]{Decode: decodeResource}
	f := dual(t, Definition{Methods: []MethodHandler{
		BindAck("resources/subscribe", note("on"), codec), BindAck("resources/unsubscribe", note("off"), codec), resources(),
	}})
	c := f.dial(t.Context())
	c.initialize(`{}`)
	c.request("1", "resources/subscribe", `{"uri":"test://0"}`).wantResult(t, `{}`)
	f.srv.mu.Lock()
	for _, p := range f.srv.peers {
		for n := len(p.subscribed); n < maxSubscribed; n++ {
			p.subscribed[fmt.Sprint("test://", n)] = true
		}
	}
	f.srv.mu.Unlock()
	c.request("2", "resources/subscribe", `{"uri":"test://more"}`).wantError(t, -32600, "limit reached")
	c.request("3", "resources/subscribe", `{"uri":"test://0"}`).wantResult(t, `{}`)
	for _, want := range []string{"on test://0", "on test://more", "off test://more"} {
		if got := <-told; got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

// Two requests that subscribe at once are as two in turn: the application hears of the resource once, and the session stays subscribed.
func TestEXT13LET06SubscribingTwiceAtOnceIsSubscribingOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told, agreed := make(chan string, 8), make(chan struct{})
		note := func(what string) func(context.Context, *Call, *resourceParams) error {
			return func(_ context.Context, _ *Call, in *resourceParams) error {
				told <- what + " " + in.uri
				<-agreed
				return nil
			}
		}
		codec := MethodCodec[resourceParams, struct{}]{Decode: decodeResource}
		f := dual(t, Definition{Methods: []MethodHandler{
			BindAck("resources/subscribe", note("on"), codec), BindAck("resources/unsubscribe", note("off"), codec), resources(),
		}})
		c := f.dial(t.Context())
		c.initialize(nothing)
		change := func(id, method, uri string) {
			c.sendf(`{"jsonrpc":"2.0","id":%s,"method":"resources/%s","params":{"uri":%q}}`, id, method, uri)
			synctest.Wait()
		}
		change("1", "subscribe", "test://a")
		change("2", "subscribe", "test://a")
		change("3", "subscribe", "test://b") // waits for nobody
		change("4", "subscribe", "test://a")
		c.cancel("4") // while it waits
		synctest.Wait()
		if a, b := <-told, <-told; a != "on test://a" || b != "on test://b" || len(told) > 0 {
			t.Errorf("%q, %q and %d more", a, b, len(told))
		}
		close(agreed)
		for range 3 {
			c.next().wantNoError(t)
		}
		synctest.Wait()
		f.srv.ResourceUpdated("test://a")
		synctest.Wait()
		if got := c.fence(); len(got) != 1 || len(told) > 0 {
			t.Errorf("%d notifications, and %d calls of handlers", len(got), len(told))
		}
		change("5", "unsubscribe", "test://a")
		c.answer("5")
		change("6", "subscribe", "test://a")
		c.answer("6")
		if a, b := <-told, <-told; a != "off test://a" || b != "on test://a" || len(told) > 0 {
			t.Errorf("%q, %q and %d more", a, b, len(told))
		}
		if n := len(f.srv.onlyPeer().turns); n > 0 {
			t.Errorf("%d turns are not over", n)
		}
		c.close()
	})
}
