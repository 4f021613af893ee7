package servertest_test

import (
	"context"
	"fmt"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
	"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

// handlers are two tools of a generated package.
type handlers struct{ kiln.Handlers }

func (*handlers) Greet(_ context.Context, _ *server.Call, in *kiln.GreetInput) (*kiln.CallToolResult, error) {
	return kiln.TextResult("Hello, " + in.Name + "!"), nil
}

func (*handlers) ConfirmDelete(ctx context.Context, call *kiln.ConfirmDeleteCall, in *kiln.ConfirmDeleteInput) (*kiln.CallToolResult, error) {
	answer, err := call.Confirm(ctx, "")
	if err != nil {
		return nil, err
	}
	if !answer.Accepted() || !answer.Value.Confirm {
		return kiln.TextResult("kept"), nil
	}
	return kiln.TextResult("deleted " + in.Filename), nil
}

// A call, and a task that asks, in every revision that has tasks.
func Example() {
	t := newExampleT() // a test has its own
	defer t.end()
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		srv, err := kiln.New(&handlers{})
		if err != nil {
			t.Fatal(err)
		}
		c := servertest.Start(t, srv, servertest.WithRevision(revision))
		r, err := c.Call("greet", &kiln.GreetInput{Name: "Ada"})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(revision, r.Text())

		c.Answer("confirm", servertest.Accept(&kiln.ConfirmDeleteConfirm{Confirm: true}))
		job, err := c.Task("confirm_delete", &kiln.ConfirmDeleteInput{Filename: "a.txt"})
		if err != nil {
			t.Fatal(err)
		}
		if r, err = job.Result(); err != nil {
			t.Fatal(err)
		}
		fmt.Println(revision, r.Text())
	}
	// Output:
	// 2026-07-28 Hello, Ada!
	// 2026-07-28 deleted a.txt
	// 2025-11-25 Hello, Ada!
	// 2025-11-25 deleted a.txt
}
