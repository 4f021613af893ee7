// Gosdk drives generated servers with the official Go SDK's client: a scaffolded project over stdio, and the server of the
// conformance suite over HTTP and stdio in both revisions.
//
//	go run . REPORTS SERVER
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// check is one thing that a session has to get right.
type check struct {
	name string
	on   target
	run  func(context.Context, *session) error
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gosdk REPORTS SERVER")
		os.Exit(2)
	}
	passed, failed, err := run(os.Args[1], os.Args[2])
	fmt.Printf("interop, Go SDK on both revisions: %d passed, %d failed\n", passed, failed)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gosdk:", err)
	}
	if failed > 0 || err != nil {
		os.Exit(1)
	}
}

func run(reports, server string) (passed, failed int, err error) {
	served, err := serve(server, "-page", pageSize)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, served.stop()) }()
	var checks []check
	checks = append(checks, ofReports(target{name: "stdio", command: []string{reports}})...)
	for _, revision := range []string{stateless, handshake} {
		for _, t := range []target{
			{name: "HTTP, " + revision, url: served.url, revision: revision},
			{name: "stdio, " + revision, command: []string{server, "-page", pageSize}, revision: revision},
		} {
			checks = append(checks, ofServer(t)...)
		}
	}
	for _, c := range checks {
		if err := withSession(c); err != nil {
			failed++
			fmt.Printf("FAIL  %s: %s\n      %v\n", c.on.name, c.name, err)
			continue
		}
		passed++
		fmt.Printf("ok    %s: %s\n", c.on.name, c.name)
	}
	return passed, failed, nil
}

// withSession runs a check on a session of its own, so that one that fails leaves nothing to the next.
func withSession(c check) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s, err := connect(ctx, c.on)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return errors.Join(c.run(ctx, s), s.Close())
}
