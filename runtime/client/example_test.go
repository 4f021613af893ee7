package client_test

import (
	"context"
	"fmt"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

// exampleServer serves one tool on the other end of a pipe.
func exampleServer() (conn rpc.Conn, stop func()) {
	generated, err := kiln.New(struct{ kiln.Handlers }{})
	if err != nil {
		panic(err)
	}
	srv, err := server.New(server.Definition{
		Name: "example", Version: "1", Runtime: server.Generation1, Tools: []server.Tool{tool("ask", ask)}, Revisions: generated.Definition().Revisions,
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
	conn, stop := exampleServer()
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
