package proof

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
)

// Program is the compiled code of a batch.
type Program struct {
	path    string
	dropped map[int]bool
}

// Question is an instance for one schema of the batch.
type Question struct {
	Schema   int
	Instance []byte // any text without line breaks
}

// Answer is what generated code says about an instance. At most one of Invalid and Refused is set.
type Answer struct {
	Invalid  string // the violations, one a line
	Refused  string // not JSON, or beyond a limit
	Out      string // of a valid instance: the text that it is encoded to
	Unstable string // of a valid instance: how decoding and encoding Out gives another text; empty: it does not
	JSON     string // of a valid instance: how encoding/json writes or reads it, or the zero value, differently; empty: it does not
	Dropped  bool   // the schema was dropped: the program was not asked
}

// Valid reports whether the instance satisfies the schema.
func (a Answer) Valid() bool { return a.Invalid == "" && a.Refused == "" && !a.Dropped }

// Ask starts the program, asks all questions and waits for its end. The answers are in the order of the questions. If it
// fails, the error says at which question, with what the program wrote to stderr.
func (p *Program) Ask(ctx context.Context, questions []Question) ([]Answer, error) {
	var put []Question
	for _, q := range questions {
		if !p.dropped[q.Schema] {
			put = append(put, q)
		}
	}
	got, err := p.run(ctx, put)
	if err != nil {
		return nil, err
	}
	answers := make([]Answer, len(questions))
	for i, q := range questions {
		if p.dropped[q.Schema] {
			answers[i].Dropped = true
			continue
		}
		answers[i], got = got[0], got[1:]
	}
	return answers, nil
}

func (p *Program) run(ctx context.Context, questions []Question) ([]Answer, error) {
	cmd := exec.CommandContext(ctx, p.path)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(lines(questions)), &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	answers, readErr := readAnswers(bufio.NewReaderSize(out, 1<<16), len(questions))
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("after %d of %d answers: %w\n%s", len(answers), len(questions), err, stderr.Bytes())
	}
	return answers, readErr
}

func lines(questions []Question) []byte {
	var b []byte
	for _, q := range questions {
		b = fmt.Appendf(b, "%d %s\n", q.Schema, q.Instance)
	}
	return b
}

func readAnswers(r *bufio.Reader, n int) ([]Answer, error) {
	answers := make([]Answer, 0, n)
	for range n {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return answers, fmt.Errorf("answer %d: %w", len(answers), err)
		}
		var a Answer
		if err := json.Unmarshal(line, &a); err != nil {
			return answers, fmt.Errorf("answer %d: %w", len(answers), err)
		}
		answers = append(answers, a)
	}
	return answers, nil
}
