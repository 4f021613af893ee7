// Servers drives the servers of others with this project's client: those of the official Go SDK and of the TypeScript SDK, over stdio and
// Streamable HTTP, in every revision that they have.
//
//	go run . NODE-DIRECTORY
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// target is a server and the way to it. revision "" is for whichever is picked.
type target struct {
	name, revision, picks string
	transport             func() client.Transport
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "-stdio" {
		serveStdio()
		return
	}
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: servers NODE-DIRECTORY")
		os.Exit(2)
	}
	passed, failed := 0, 0
	for _, t := range targets(os.Args[1]) {
		for _, c := range checks {
			err := run(t, c)
			if err != nil {
				failed++
				fmt.Printf("FAIL  %s: %s\n      %v\n", t.name, c.name, err)
				continue
			}
			passed++
			fmt.Printf("ok    %s: %s\n", t.name, c.name)
		}
	}
	fmt.Printf("interop, servers of others: %d passed, %d failed\n", passed, failed)
	if failed > 0 || passed == 0 {
		os.Exit(1)
	}
}

// targets are all servers, each in all its revisions.
func targets(node string) (all []target) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	sessions, stateless := serveHTTP(false), serveHTTP(true)
	add := func(name, picks string, revisions []string, transport func() client.Transport) {
		for _, r := range append(revisions, "") {
			label := name + ", " + r
			if r == "" {
				label = name + ", picked"
			}
			all = append(all, target{name: label, revision: r, picks: picks, transport: transport})
		}
	}
	older := []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
	add("Go SDK on stdio", "2026-07-28", append(older, "2026-07-28"), func() client.Transport { return client.Command(self, "-stdio") })
	add("Go SDK on HTTP with sessions", "2025-11-25", older, func() client.Transport { return client.HTTP(sessions) })
	add("Go SDK on HTTP without sessions", "2026-07-28", []string{"2026-07-28"}, func() client.Transport { return client.HTTP(stateless) })
	add("TypeScript SDK on stdio", "2025-11-25", older, func() client.Transport {
		p := client.Command("node", "server.mjs")
		p.Dir = node
		return p
	})
	return all
}

// run makes one check on a session of its own.
func run(t target, c check) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	opts := []client.Option{client.WithHandlers(client.Handlers{Elicit: func(context.Context, *client.Question) (*client.Answer, error) {
		return &client.Answer{Action: client.Accepted, Content: map[string]string{"name": "Ada"}}, nil
	}})}
	if t.revision != "" {
		opts = append(opts, client.WithRevision(t.revision))
	}
	s, err := client.Connect(ctx, t.transport(), opts...)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	want := t.revision
	if want == "" {
		want = t.picks
	}
	if s.Revision() != want {
		err = fmt.Errorf("revision %s, want %s", s.Revision(), want)
	}
	return errors.Join(err, c.run(ctx, s), s.Close())
}
