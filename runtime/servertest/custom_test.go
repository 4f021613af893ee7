package servertest_test

import (
	"context"
	"slices"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
	"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

// customServer has requests and notifications that are not the protocol's in every revision, as the generator writes them. Those of the
// client are taken by seen. hidden are properties that no violation shows.
func customServer(t *testing.T, seen func(who, text string), hidden string, opts ...server.Option) *server.Server {
	t.Helper()
	generated, err := kiln.New(struct{ kiln.Handlers }{})
	if err != nil {
		t.Fatal(err)
	}
	d := server.Definition{Name: "test", Version: "1", Runtime: server.Generation1}
	for _, r := range generated.Definition().Revisions {
		w := *r
		w.Methods = append(slices.Clone(w.Methods), wire.Method{Name: "notes/add", Op: wire.OpMethod, NoInput: !w.Handshake, Read: w.ReadRequest})
		w.Methods = append(w.Methods, wire.Method{Name: "notifications/notes/seen", Op: wire.OpNotice, Notification: true})
		place := "experimental/com.example~1notes"
		if !w.Handshake {
			place = "extensions/com.example~1notes"
		}
		w.Outgoing = append(slices.Clone(w.Outgoing), wire.Outgoing{Op: wire.OpCustom, Name: "notes/added"},
			wire.Outgoing{Op: wire.OpCustomRequest, Name: "notes/choose", Capability: place + "/choose"})
		w.Capabilities.Extensions = []string{place} // for its notifications
		d.Revisions = append(d.Revisions, &w)
	}
	decodeInput, decodeOutput := check.Hiding(hidden, decodeInput), check.Hiding(hidden, decodeOutput)
	added := server.CustomNotification[output]{Method: "notes/added", Append: appendOutput, Decode: decodeOutput}
	choose := server.ClientRequest[output, input]{Op: wire.OpCustomRequest, Method: "notes/choose", Codecs: []server.ClientCodec[output, input]{
		{Append: appendOutput, DecodeParams: decodeOutput, Decode: decodeInput}}}
	d.Tools = []server.Tool{tool("choose", func(ctx context.Context, call *server.Call, in *input) (*output, error) {
		chosen, err := server.Send(ctx, call, &choose, "which", &output{in.Text})
		if err != nil {
			return nil, err
		}
		return &output{"chose " + chosen.Text}, nil
	})}
	d.Notices = []server.NoticeHandler{server.BindNotice("notifications/notes/seen", func(_ context.Context, from *server.Notice, in *input) error {
		seen(from.Revision(), in.Text)
		return nil
	}, decodeInput)}
	d.Methods = []server.MethodHandler{server.BindMethod("notes/add", func(ctx context.Context, call *server.Call, in *input) (*output, error) {
		return &output{"added " + in.Text}, server.Notify(ctx, call, &added, &output{in.Text})
	}, server.MethodCodec[input, output]{Decode: decodeInput, Append: appendOutput, DecodeResult: decodeOutput})}
	srv, err := server.New(d, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

func TestSRV07CustomMethodsInEveryRevision(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		seen := make(chan string, 1)
		c := servertest.Start(t, customServer(t, func(who, text string) { seen <- who + " " + text }, ""), servertest.WithRevision(revision))
		c.Notify("notifications/notes/seen", &input{"bread"})
		if got := <-seen; got != revision+" bread" {
			t.Errorf("taken: %s", got)
		}
		c.Answer("which", servertest.Reply(&input{"tea"}))
		if out, err := servertest.Call[output](c, "choose", &input{"tea or milk"}); err != nil || out.Text != "chose tea" {
			t.Errorf("got %v, %v", out, err)
		}
		out, err := servertest.Request[output](c, "notes/add", &input{"milk"})
		if err != nil || out.Text != "added milk" {
			t.Errorf("got %v, %v", out, err)
		}
		if n, err := c.AwaitNotice("notes/added"); err != nil || string(n.Params) != `{"text":"milk"}` {
			t.Errorf("got %s", n.Params)
		}
		if _, err := servertest.Request[output](c, "notes/add", &input{}); err == nil {
			t.Error("params that break their schema were taken")
		}
	})
}
