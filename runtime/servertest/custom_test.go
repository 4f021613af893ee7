package servertest_test

import (
	"context"
	"slices"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
	"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

// customServer has a request and a notification of its own in every revision, as the generator writes them.
func customServer(t *testing.T) *server.Server {
	t.Helper()
	generated, err := kiln.New(struct{ kiln.Handlers }{})
	if err != nil {
		t.Fatal(err)
	}
	d := server.Definition{Name: "test", Version: "1", Runtime: server.Generation1}
	for _, r := range generated.Definition().Revisions {
		w := *r
		read := w.Methods[slices.IndexFunc(w.Methods, func(m wire.Method) bool { return m.Name == "completion/complete" })].Read
		w.Methods = append(slices.Clone(w.Methods), wire.Method{Name: "notes/add", Op: wire.OpMethod, NoInput: !w.Handshake, Read: read})
		w.Outgoing = append(slices.Clone(w.Outgoing), wire.Outgoing{Op: wire.OpCustom, Name: "notes/added"})
		d.Revisions = append(d.Revisions, &w)
	}
	added := server.CustomNotification[output]{Method: "notes/added", Append: appendOutput, Decode: decodeOutput}
	d.Methods = []server.MethodHandler{server.BindMethod("notes/add", func(ctx context.Context, call *server.Call, in *input) (*output, error) {
		return &output{"added " + in.Text}, server.Notify(ctx, call, &added, &output{in.Text})
	}, server.MethodCodec[input, output]{Decode: decodeInput, Append: appendOutput, DecodeResult: decodeOutput})}
	srv, err := server.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

func TestSRV07CustomMethodsInEveryRevision(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		c := servertest.Start(t, customServer(t), servertest.WithRevision(revision))
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
