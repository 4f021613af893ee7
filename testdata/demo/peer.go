package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// patience is how long a scene waits for one message.
const patience = 20 * time.Second

// message is any JSON-RPC message, as far as the scenes look at it.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// peer is the client's side of the server's stdin and stdout.
type peer struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	msgs chan message
	seen []message // what was received so far
	next int
}

func start(ctx context.Context, server string, args ...string) (*peer, error) {
	cmd := exec.CommandContext(ctx, server, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &peer{cmd: cmd, in: in, msgs: make(chan message, 64)}
	go p.read(out)
	return p, nil
}

// read hands every line of the server to the scenes, and ends with the server's output.
func (p *peer) read(out io.Reader) {
	defer close(p.msgs)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			m.Method = "not JSON: " + err.Error()
		}
		fmt.Printf("  ← %s\n", shorten(lines.Text()))
		p.msgs <- m
	}
}

// send writes one message and shows it.
func (p *peer) send(line string) error {
	fmt.Printf("  → %s\n", shorten(line))
	_, err := io.WriteString(p.in, line+"\n")
	return err
}

// request sends a request and returns its id's answer.
func (p *peer) request(method, params string) (message, error) {
	id, err := p.ask(method, params)
	if err != nil {
		return message{}, err
	}
	return p.answer(id)
}

// ask sends a request and returns its id without waiting.
func (p *peer) ask(method, params string) (string, error) {
	p.next++
	id := fmt.Sprint(p.next)
	return id, p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
}

// answer waits for the response to a request; an error response is an error.
func (p *peer) answer(id string) (message, error) {
	m, err := p.await(func(m message) bool { return m.Method == "" && string(m.ID) == id })
	if err == nil && m.Error != nil {
		err = fmt.Errorf("request %s failed: %d %s", id, m.Error.Code, m.Error.Message)
	}
	return m, err
}

// await waits for the first message that satisfies want.
func (p *peer) await(want func(message) bool) (message, error) {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		select {
		case m, ok := <-p.msgs:
			if !ok {
				return message{}, fmt.Errorf("the server ended")
			}
			p.seen = append(p.seen, m)
			if want(m) {
				return m, nil
			}
		case <-limit.C:
			return message{}, fmt.Errorf("no such message within %v", patience)
		}
	}
}

// answered says whether a response to the request has come so far.
func (p *peer) answered(id string) bool {
	for _, m := range p.seen {
		if m.Method == "" && string(m.ID) == id {
			return true
		}
	}
	return false
}

// close ends the server's input and waits for it to end by itself.
func (p *peer) close() error {
	if err := p.in.Close(); err != nil {
		return err
	}
	for range p.msgs {
	}
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("the server's exit: %w", err)
	}
	return nil
}

// kill ends the server when a scene failed; after close it does nothing.
func (p *peer) kill() {
	if p.cmd.ProcessState == nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	}
}

// shorten keeps a line of the exchange readable on a terminal.
func shorten(line string) string {
	const most = 220
	if r := []rune(line); len(r) > most {
		return string(r[:most]) + " …"
	}
	return line
}

func join(args []string) string { return strings.Join(args, " ") }
