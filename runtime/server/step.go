package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// Do runs fn, records its value under name, as JSON, and returns it. When the handler runs again, after a crash or with an answer, the
// recorded value is returned and fn does not run. A crash before the value is recorded runs fn again: see Call.Key. Each step of a run has a
// name of its own.
//
// Do always returns what later runs get: the value decoded from its JSON. A recorded value has to be exactly that of a T: one that lacks a
// field of T, has others, or has a number that T would round is refused. So when a release changes T, steps that tasks recorded before fail
// with *StepError, unless the only change is a new field that is left out while it is empty (omitzero). For any other change, give the step
// another name.
//
// Inline, no step begins once the call has ended. Where the client is asked by ending the run (ErrAsked), a step that another goroutine has under way is
// waited for, so that its value goes out with the questions: until the call's timeout, after which it is not recorded. The ctx of fn ends with the call,
// so a step that heeds it holds nothing up longer. A step that asks is not waited for, provided that a goroutine which fn starts asks with the ctx of fn.
//
// Errors: fn's, after which nothing is recorded and the step may be tried again; *task.NameError for a name that is taken; *StepError, after which
// nothing is recorded either unless the value is that of an earlier run; ErrAsked or the cause of the call's end, if fn was not run because the call has ended,
// or its value could not be recorded; the error of the store, if that could not record it.
func Do[T any](ctx context.Context, c AnyCall, name string, fn func(ctx context.Context) (T, error)) (T, error) {
	var v T
	ran := false // false: the value is that of an earlier run
	data, err := c.anyCall().Do(ctx, name, func(ctx context.Context) ([]byte, error) {
		done, err := fn(ctx)
		if err != nil {
			return nil, err
		}
		data, err := encodeStep(done)
		if err != nil {
			return nil, &StepError{Step: name, Err: err}
		}
		if v, err = decodeStep[T](name, data, false); err != nil {
			return nil, err // it is not recorded: no later run could read it
		}
		ran = true
		return data, nil
	})
	if err == nil && !ran {
		v, err = decodeStep[T](name, data, true)
	}
	if err != nil {
		var none T
		return none, err
	}
	return v, nil
}

// AnyCall is a *Call, or the call type of a tool with questions, which embeds one.
type AnyCall interface{ anyCall() *Call }

func (c *Call) anyCall() *Call { return c }

// StepError says that the value of a step can not be recorded as JSON, or that a recorded one is not of the type that the handler wants. If a tool
// returns it, the client gets an internal error that names the step; the log has the rest.
type StepError struct {
	Step string
	// Recorded says that the value is that of an earlier run.
	Recorded bool
	Err      error
}

// Error implements error.
func (e *StepError) Error() string { return e.summary() + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *StepError) Unwrap() error { return e.Err }

// summary is the part of the error that the client may see.
func (e *StepError) summary() string {
	if e.Recorded {
		return fmt.Sprintf("step %q: what an earlier run recorded is in a form that this version of the server does not read", e.Step)
	}
	return fmt.Sprintf("step %q: its value can not be recorded", e.Step)
}

// encodeStep returns the recorded form of a value. Equal values have the same form.
func encodeStep(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return unescapeReplaced(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// unescapeReplaced replaces the escape of U+FFFD by the character. encoding/json writes the escape for invalid UTF-8 only, and the character
// itself when a valid text contains it: without this, a value with invalid UTF-8 would have another form once it was decoded (sameStep).
func unescapeReplaced(data []byte) []byte {
	const escape = `\ufffd`
	if !bytes.Contains(data, []byte(escape)) {
		return data
	}
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		switch {
		case bytes.HasPrefix(data, []byte(escape)):
			out, data = append(out, "\uFFFD"...), data[len(escape):]
		case data[0] == '\\':
			out, data = append(out, data[:2]...), data[2:]
		default:
			out, data = append(out, data[0]), data[1:]
		}
	}
	return out
}

// decodeStep decodes a recorded value. It has to be exactly what a T is recorded as: encoding/json alone would ignore fields of another
// name and leave missing ones empty.
func decodeStep[T any](name string, data []byte, recorded bool) (v T, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err = d.Decode(&v); err == nil {
		err = sameStep(v, data)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it is no JSON")
	}
	if err != nil {
		remedy := "give the step another name if its value has changed"
		if !recorded {
			remedy = "give the step a type whose JSON is read back as the same value"
			if errors.As(err, new(check.Violations)) {
				remedy = "its own schema refuses it, perhaps for a default that was filled in: mcpkiln generate warns of those (conflicting-default)"
			}
		}
		var none T
		return none, &StepError{Step: name, Recorded: recorded, Err: fmt.Errorf("as a %T: %w; %s", v, err, remedy)}
	}
	return v, nil
}

// sameStep returns an error if v would not be recorded as data.
func sameStep(v any, data []byte) error {
	again, err := encodeStep(v)
	if err != nil {
		return err
	}
	if !bytes.Equal(again, data) {
		return errors.New("what it reads is recorded as something else: a field is missing or has changed, or a number is rounded")
	}
	return nil
}

// Key is an idempotency key for a step: hand it to a service that takes one, so that a step which ran twice, because the server died before its
// outcome was recorded, is carried out once. It is the same in every run of the call and of its task, and differs between names, calls
// and tasks. It does not reveal the task's id.
func (c *Call) Key(name string) string {
	h := sha256.New()
	fmt.Fprintf(h, "mcpkiln step\x00%d\x00%s", len(name), name)
	h.Write(c.keySeed())
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:20])
}

// keySeed is the seed of the call's keys. That of an inline call is random and recorded, since a retry is another request. That of a task is the task's
// id, unless inline runs had recorded a seed before the call became a task.
func (c *Call) keySeed() []byte {
	if c.taskRun != nil {
		if e := c.local.earlier.entry(seedStep); e != nil {
			return e.Data
		}
		return []byte(c.TaskID())
	}
	if j, open := c.openJournal().(*callJournal); open {
		return j.seed()
	}
	return []byte(rand.Text()) // the handler has returned
}

// seed returns the seed of the call's keys, and records it. A journal that went out in a sealed request state has one: several retries may go on from there.
func (j *callJournal) seed() []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.recorded[seedStep] == nil {
		j.recorded[seedStep] = &journalEntry{data: []byte(rand.Text())}
	}
	return j.recorded[seedStep].data
}

// seedStep is the step that records the seed of keys. Handlers can not use it, because names have no #.
const seedStep = instanceMark + "key"
