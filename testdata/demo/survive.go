package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
)

// survive runs the server with a file for its tasks, kills it in the middle of one, and reads the results from the next process.
func survive(ctx context.Context, server string) error {
	file := filepath.Join(filepath.Dir(server), "tasks.db")
	fmt.Printf("\n── a task survives kill -9: server -tasks tasks.db\n")
	done, half, err := untilKilled(ctx, server, file)
	if err != nil {
		return err
	}
	fmt.Printf("  (the process is killed, and another one started)\n")
	p, err := start(ctx, server, "-tasks", file)
	if err != nil {
		return err
	}
	defer p.kill()
	if err := handshake(p); err != nil {
		return err
	}
	if err := resultOf(p, done, "Done"); err != nil {
		return err
	}
	if err := resultOf(p, half, "Half"); err != nil {
		return err
	}
	return p.close()
}

// untilKilled finishes one task, begins another, and kills the server.
func untilKilled(ctx context.Context, server, file string) (done, half string, err error) {
	p, err := start(ctx, server, "-tasks", file)
	if err != nil {
		return "", "", err
	}
	defer p.kill()
	if err := handshake(p); err != nil {
		return "", "", err
	}
	if done, err = createTask(p, `{"name":"build_report","arguments":{"title":"Done","pages":1},"task":{}}`); err != nil {
		return "", "", err
	}
	if err := resultOf(p, done, "Done"); err != nil {
		return "", "", err
	}
	half, err = createTask(p, `{"name":"build_report","arguments":{"title":"Half","pages":4},"task":{},"_meta":{"progressToken":"half"}}`)
	if err != nil {
		return "", "", err
	}
	_, err = p.await(func(m message) bool { return m.Method == "notifications/progress" })
	return done, half, err
}

// resultOf waits for the result of a report and checks that it is the one with that title.
func resultOf(p *peer, id, title string) error {
	m, err := p.request("tasks/result", fmt.Sprintf(`{"taskId":%q}`, id))
	if err != nil {
		return err
	}
	var res struct{ StructuredContent struct{ Title string } }
	if err := json.Unmarshal(m.Result, &res); err != nil || res.StructuredContent.Title != title {
		return fmt.Errorf("the result of the report %q is %s (%v)", title, m.Result, err)
	}
	return nil
}
