package client_test

import (
	"context"
	"fmt"
	"runtime"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

// exampleServer serves tools on the other end of a pipe.
func exampleServer(tools ...server.Tool) (conn rpc.Conn, stop func()) {
	generated, err := kiln.New(struct{ kiln.Handlers }{})
	if err != nil {
		panic(err)
	}
	srv, err := server.New(server.Definition{
		Name: "example", Version: "1", Runtime: server.Generation1, Tools: tools, Revisions: generated.Definition().Revisions,
	})
	if err != nil {
		panic(err)
	}
	conn, theirs := rpc.Pipe()
	served := make(chan error, 1)
	go func() { served <- srv.Serve(context.Background(), theirs) }()
	return conn, func() { <-served; _ = srv.Shutdown(context.Background()) }
}

// A tool is called that asks the user. A server in a process of its own is reached with client.Command, one on the network with client.HTTP.
func Example() {
	conn, stop := exampleServer(tool("ask", ask))
	defer stop()
	ctx := context.Background()
	s, err := client.Connect(ctx, client.Conn(conn), client.WithHandlers(client.Handlers{
		Elicit: func(_ context.Context, q *client.Question) (*client.Answer, error) {
			fmt.Println(q.Server, "asks:", q.Message)
			return &client.Answer{Action: client.Accepted, Content: map[string]bool{"yes": true}}, nil
		},
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	result, err := s.CallTool(ctx, "ask", nil, client.OnProgress(func(p client.Progress) { fmt.Println(p.Message) }))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", result.StructuredContent)
	// Output:
	// example asks: Really?
	// {"text":"accept true"}
}

// A host with two servers: it lists all their tools, shows progress and questions, and cancels what its user does not want any more.
func ExampleHub() {
	ctx := context.Background()
	hub := client.Hub{
		Options: []client.Option{client.WithHandlers(client.Handlers{
			Elicit: func(_ context.Context, q *client.Question) (*client.Answer, error) {
				fmt.Printf("%s asks: %s\n", q.Server, q.Message)
				return &client.Answer{Action: client.Accepted, Content: map[string]bool{"yes": true}}, nil
			},
			QuestionGone: func(q *client.Question, cause error) { fmt.Printf("%s does not ask any more: %v\n", q.Server, cause) },
		})},
		Changed: func(server string, err error) { fmt.Println(server, "is down or up again:", err) },
	}
	for name, tools := range map[string][]server.Tool{"books": {tool("ask", ask)}, "jobs": {tool("steps", steps), tool("hang", hang)}} {
		conn, stop := exampleServer(tools...)
		defer stop()
		if err := hub.Add(ctx, name, client.Conn(conn)); err != nil { // client.Command(…), client.HTTP(…)
			fmt.Println(err)
			return
		}
	}
	defer hub.Close()
	for tool, err := range hub.ListTools(ctx) {
		fmt.Println(tool.Name, err)
	}

	result, err := hub.CallTool(ctx, "books/ask", nil)
	fmt.Printf("%s %v\n", result.StructuredContent, err)

	show := client.OnProgress(func(p client.Progress) { fmt.Printf("%v of %v\n", p.Progress, p.Total) })
	result, err = hub.CallTool(ctx, "jobs/steps", nil, show)
	fmt.Printf("%s %v\n", result.StructuredContent, err)

	ended := make(chan error)
	go func() {
		_, err := hub.CallTool(ctx, "jobs/hang", nil)
		ended <- err
	}()
	for len(hub.Requests()) == 0 { // a user who looks at the list, and clicks
		runtime.Gosched()
	}
	for _, r := range hub.Requests() {
		_ = hub.CancelRequest(r.Server, r.ID, "takes too long")
	}
	fmt.Println(<-ended)
	// Output:
	// books/ask <nil>
	// jobs/steps <nil>
	// jobs/hang <nil>
	// books asks: Really?
	// {"text":"accept true"} <nil>
	// 2 of 2
	// {"text":"done"} <nil>
	// request ended by caller: takes too long
}

// steps says how far it is.
func steps(ctx context.Context, call *server.Call, _ *input) (*output, error) {
	call.Progress(ctx, 2, 2, "")
	return &output{"done"}, nil
}
