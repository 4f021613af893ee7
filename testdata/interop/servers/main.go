// Servers drives the servers of others with this project's client: those of the official Go SDK, of mcp-go, and of both generations of the
// TypeScript SDK, over stdio and Streamable HTTP, in every revision that they have.
//
//	go run . NODE-DIRECTORY
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// target is a server and the way to it. revision "" is for whichever is picked.
type target struct {
	name, revision, picks string
	tasks                 bool // it has them
	transport             func() client.Transport
}

// withTasks are the servers that have tasks, each with the revision of theirs.
var withTasks = map[string]string{"mcp-go on stdio": "2025-11-25", "mcp-go on HTTP": "2025-11-25",
	"TypeScript SDK v1 on stdio": "2025-11-25", "TypeScript SDK v1 on HTTP": "2025-11-25"}

func main() {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "-stdio":
		serveStdio()
		return
	case len(os.Args) == 2 && os.Args[1] == "-mcp-go":
		serveMCPGoStdio()
		return
	}
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: servers NODE-DIRECTORY")
		os.Exit(2)
	}
	passed, failed := 0, 0
	all, stop := targets(os.Args[1])
	defer stop()
	for _, t := range all {
		for _, c := range checks {
			if c.tasks && !t.tasks {
				continue
			}
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
		stop()
		os.Exit(1)
	}
}

// targets are all servers, each in all its revisions. stop ends those that are processes of their own.
func targets(node string) (all []target, stop func()) {
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
			all = append(all, target{name: label, revision: r, picks: picks, tasks: r != "" && r == withTasks[name], transport: transport})
		}
	}
	older := []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
	add("Go SDK on stdio", "2026-07-28", append(older, "2026-07-28"), func() client.Transport { return client.Command(self, "-stdio") })
	add("Go SDK on HTTP with sessions", "2025-11-25", older, func() client.Transport { return client.HTTP(sessions) })
	add("Go SDK on HTTP without sessions", "2026-07-28", []string{"2026-07-28"}, func() client.Transport { return client.HTTP(stateless) })
	mcpGo := serveMCPGo()
	add("mcp-go on stdio", "2026-07-28", append(older, "2026-07-28"), func() client.Transport { return client.Command(self, "-mcp-go") })
	add("mcp-go on HTTP", "2026-07-28", append(older, "2026-07-28"), func() client.Transport { return client.HTTP(mcpGo) })
	one, stopOne := serveNode(node, "server.mjs")
	two, stopTwo := serveNode(node, "server-v2.mjs")
	add("TypeScript SDK v1 on stdio", "2025-11-25", older, nodeOn(node, "server.mjs"))
	add("TypeScript SDK v1 on HTTP", "2025-11-25", older[:3], func() client.Transport { return client.HTTP(one) })
	add("TypeScript SDK v2 on stdio", "2026-07-28", []string{"2026-07-28"}, nodeOn(node, "server-v2.mjs"))
	add("TypeScript SDK v2 on HTTP", "2026-07-28", []string{"2026-07-28"}, func() client.Transport { return client.HTTP(two) })
	return all, func() { stopOne(); stopTwo() }
}

// nodeOn is the way to a script on stdio.
func nodeOn(dir, script string) func() client.Transport {
	return func() client.Transport {
		p := client.Command("node", script, "stdio")
		p.Dir = dir
		return p
	}
}

// serveNode starts a script that serves on HTTP and says where.
func serveNode(dir, script string) (url string, stop func()) {
	cmd := exec.Command("node", script, "http")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		panic(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(line), func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
}

// run makes one check on a session of its own.
func run(t target, c check) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	opts := []client.Option{
		client.WithHandlers(client.Handlers{Elicit: func(context.Context, *client.Question) (*client.Answer, error) {
			return &client.Answer{Action: client.Accepted, Content: map[string]string{"name": "Ada"}}, nil
		}}),
		client.WithProbe(20 * time.Second), // a machine that is busy is no silent server: Node has been seen to need 2 s to start
	}
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
