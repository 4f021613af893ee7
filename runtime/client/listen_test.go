package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// subscribed is a session with a subscription, and what its handlers hear.
func subscribed(t *testing.T) (*client.Subscription, *peer, message, chan string) {
	heard := make(chan string, 10)
	s, p := meet(t, "2026-07-28", client.WithHandlers(client.Handlers{
		ListChanged: func(l client.List) { heard <- string(l) }, ResourceUpdated: func(uri string) { heard <- uri },
	}))
	type made struct {
		sub *client.Subscription
		err error
	}
	done := make(chan made, 1)
	go func() {
		sub, err := s.Listen(t.Context(), client.Filter{Tools: true, Prompts: true, URIs: []string{"file:///a"}})
		done <- made{sub, err}
	}()
	m := p.expect("subscriptions/listen")
	has(t, m.raw, `"notifications":{"promptsListChanged":true,"resourceSubscriptions":["file:///a"],"toolsListChanged":true}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":99}}}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]},"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, m.ID)
	r := <-done
	if r.err != nil {
		t.Fatal(r.err)
	}
	if !r.sub.Served.Tools || r.sub.Served.Prompts || len(r.sub.Served.URIs) != 1 {
		t.Errorf("%+v", r.sub.Served)
	}
	return r.sub, p, m, heard
}

func TestEXT13ASubscriptionEndsInOrder(t *testing.T) {
	for name, c := range map[string]struct {
		end func(sub *client.Subscription, p *peer, m message)
		ok  bool
	}{
		"by its owner": {func(sub *client.Subscription, p *peer, _ message) {
			go sub.Close()
			p.expect("notifications/cancelled")
		}, true},
		"by a result": {func(_ *client.Subscription, p *peer, m message) { p.answer(m, `{"resultType":"complete"}`) }, true},
		"by a cancellation": {func(_ *client.Subscription, p *peer, m message) {
			p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, m.ID)
		}, true},
		"by an error": {func(_ *client.Subscription, p *peer, m message) {
			p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`, m.ID)
		}, false},
		"by the connection": {func(_ *client.Subscription, p *peer, _ message) { _ = p.conn.Close() }, false},
	} {
		sub, p, m, heard := subscribed(t)
		p.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, m.ID)
		p.send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a","_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, m.ID)
		if got := <-heard + " " + <-heard; got != "tools file:///a" {
			t.Errorf("%s: heard %q", name, got)
		}
		if sub.Err() != nil {
			t.Error(sub.Err())
		}
		c.end(sub, p, m)
		<-sub.Done()
		if (sub.Err() == nil) != c.ok {
			t.Errorf("%s: %v", name, sub.Err())
		}
	}
}

func TestEXT13ASubscriptionThatIsNotAcknowledged(t *testing.T) {
	s, p := meet(t, "2026-07-28")
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := s.Listen(ctx, client.Filter{Tools: true})
		done <- err
	}()
	p.expect("subscriptions/listen")
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	p.expect("notifications/cancelled")
	old, _ := meet(t, "2025-11-25")
	var none *client.NotOfferedError
	if _, err := old.Listen(t.Context(), client.Filter{}); !errors.As(err, &none) {
		t.Error(err)
	}
}

func TestEXT13OverHTTPTheStreamIsTheSubscription(t *testing.T) {
	closed := make(chan struct{})
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		if m.Method == "server/discover" {
			answer(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+offers+`,"ttlMs":0,"cacheScope":"private"}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{\"toolsListChanged\":true},\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%s}}}\n\n", m.ID)
		_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":{}}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(closed)
	})
	heard := make(chan client.List, 1)
	s := dialHTTP(t, url, client.WithTimeout(time.Second, time.Second), client.WithHandlers(client.Handlers{ListChanged: func(l client.List) { heard <- l }}))
	sub, err := s.Listen(t.Context(), client.Filter{Tools: true})
	if err != nil {
		t.Fatal(err)
	}
	if l := <-heard; l != client.Tools {
		t.Error(l)
	}
	if err := sub.Close(); err != nil {
		t.Error(err)
	}
	<-closed
}

// TestEXT13OnlyWhatWasAskedForReachesTheHandlers has a server that sends more, in each of the ways in which a notification can be none of a subscription.
func TestEXT13OnlyWhatWasAskedForReachesTheHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan string, 100)
		s, p := meet(t, "2026-07-28", client.WithHandlers(client.Handlers{
			ListChanged: func(l client.List) { heard <- string(l) }, ResourceUpdated: func(uri string) { heard <- uri },
		}))
		note := func(id, method, more string) {
			t.Helper()
			p.send(`{"jsonrpc":"2.0","method":"notifications/%s","params":{%s"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, method, more, id)
		}
		hears := func(want ...string) {
			t.Helper()
			synctest.Wait()
			for _, w := range want {
				if got := <-heard; got != w {
					t.Errorf("heard %s, want %s", got, w)
				}
			}
			for len(heard) > 0 {
				t.Errorf("heard %s", <-heard)
			}
		}
		p.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		hears()
		made := make(chan *client.Subscription)
		go func() {
			sub, err := s.Listen(t.Context(), client.Filter{Tools: true, Prompts: true, URIs: []string{"file:///a", "file:///b"}})
			if err != nil {
				t.Error(err)
			}
			made <- sub
		}()
		id := string(p.expect("subscriptions/listen").ID)
		note(id, "tools/list_changed", "")
		hears()
		note(id, "subscriptions/acknowledged", `"notifications":{"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["file:///a","file:///c"]},`)
		note(id, "subscriptions/acknowledged", `"notifications":{"promptsListChanged":true},`)
		sub := <-made
		if f := sub.Served; !f.Tools || f.Prompts || f.Resources || fmt.Sprint(f.URIs) != "[file:///a]" {
			t.Errorf("served %+v", f)
		}
		for _, method := range []string{"prompts/list_changed", "resources/list_changed"} {
			note(id, method, "")
		}
		for _, uri := range []string{"file:///b", "file:///c", "file:///ab", "file:///"} {
			note(id, "resources/updated", `"uri":"`+uri+`",`)
		}
		for _, other := range []string{`"` + id + `"`, "99", "null"} {
			note(other, "resources/updated", `"uri":"file:///a/of/`+strings.Trim(other, `"`)+`",`)
		}
		hears("file:///a/of/null") // it names none, and there is one
		note(id, "tools/list_changed", "")
		note(id, "resources/updated", `"uri":"file:///a",`)
		note(id, "resources/updated", `"uri":"file:///a#part",`)
		hears("tools", "file:///a", "file:///a#part")
		p.answer(message{ID: []byte(id)}, `{"resultType":"complete"}`)
		note(id, "tools/list_changed", "")
		hears()
		<-sub.Done()
	})
}
