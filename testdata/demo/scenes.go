package main

import (
	"encoding/json"
	"fmt"
)

// scenes are the tour, in order. Each fails when the server does not do what its title says.
var scenes = []struct {
	title string
	play  func(*peer) error
}{
	{"the handshake", handshake},
	{"an inline call", inlineCall},
	{"arguments that break the schema: every violation, in words that a model can act on", violations},
	{"a cancelled call: no answer, ever", cancelledCall},
	{"a task with progress; its result is read when it is done", taskWithProgress},
	{"a question half-way, answered", answeredQuestion},
	{"a cancelled task: cancelled stays cancelled", cancelledTask},
}

func handshake(p *peer) error {
	_, err := p.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"demo","version":"1"}}`)
	if err != nil {
		return err
	}
	return p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func inlineCall(p *peer) error {
	_, err := p.request("tools/call", `{"name":"get_quote","arguments":{"symbol":"ACME"}}`)
	return err
}

func violations(p *peer) error {
	m, err := p.request("tools/call", `{"name":"get_quote","arguments":{"symbol":"FAR TOO LONG"}}`)
	if err != nil {
		return err
	}
	var res struct{ IsError bool }
	if err := json.Unmarshal(m.Result, &res); err != nil || !res.IsError {
		return fmt.Errorf("accepted: %s (%v)", m.Result, err)
	}
	return nil
}

func cancelledCall(p *peer) error {
	id, err := p.ask("tools/call", `{"name":"get_quote","arguments":{"symbol":"SLOW"}}`)
	if err != nil {
		return err
	}
	if err := p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"not needed any more"}}`, id)); err != nil {
		return err
	}
	// The same call again takes as long as the first would have taken: had that been answered, it would be here by then.
	if _, err := p.request("tools/call", `{"name":"get_quote","arguments":{"symbol":"SLOW"}}`); err != nil {
		return err
	}
	if p.answered(id) {
		return fmt.Errorf("request %s was answered after its cancellation", id)
	}
	fmt.Printf("  (request %s stays without an answer)\n", id)
	return nil
}

func taskWithProgress(p *peer) error {
	id, err := createTask(p, `{"name":"build_report","arguments":{"title":"Q3","pages":3},"task":{"ttl":60000},"_meta":{"progressToken":"q3"}}`)
	if err != nil {
		return err
	}
	_, err = p.request("tasks/result", fmt.Sprintf(`{"taskId":%q}`, id))
	return err
}

func answeredQuestion(p *peer) error {
	id, err := p.ask("tools/call", `{"name":"import_orders","arguments":{"source":"existing.csv"}}`)
	if err != nil {
		return err
	}
	q, err := p.await(func(m message) bool { return m.Method == "elicitation/create" })
	if err != nil {
		return err
	}
	if err := p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"overwrite":true}}}`, q.ID)); err != nil {
		return err
	}
	_, err = p.answer(id)
	return err
}

func cancelledTask(p *peer) error {
	id, err := createTask(p, `{"name":"build_report","arguments":{"title":"Yearbook","pages":1000},"task":{}}`)
	if err != nil {
		return err
	}
	if _, err := p.request("tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id)); err != nil {
		return err
	}
	m, err := p.request("tasks/get", fmt.Sprintf(`{"taskId":%q}`, id))
	if err != nil {
		return err
	}
	var task struct{ Status string }
	if err := json.Unmarshal(m.Result, &task); err != nil || task.Status != "cancelled" {
		return fmt.Errorf("the task is %q (%v)", task.Status, err)
	}
	return nil
}

// createTask sends a tools/call that makes a task and returns the task's id.
func createTask(p *peer, params string) (string, error) {
	m, err := p.request("tools/call", params)
	if err != nil {
		return "", err
	}
	var res struct {
		Task struct{ TaskID, Status string }
	}
	if err := json.Unmarshal(m.Result, &res); err != nil || res.Task.Status != "working" {
		return "", fmt.Errorf("no task: %s (%v)", m.Result, err)
	}
	return res.Task.TaskID, nil
}
