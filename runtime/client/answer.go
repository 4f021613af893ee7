package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// codeRejected is the code of the error for sampling that the user rejects.
const codeRejected = -1

// answer returns a handler's answer to a question. failure is why there is none, if the handler has failed. It is for the host: bad, which the server gets,
// does not repeat it, since it may have in it what the user has entered, or paths and addresses of this side.
func (s *Session) answer(ctx context.Context, d *wire.Dialect, op wire.Op, q *Question) (result []byte, bad *Error, failure error) {
	result, err := s.handle(ctx, d, op, q)
	var own *Error
	switch {
	case err == nil:
		return result, nil, nil
	case errors.As(err, &own) && own != nil && sendable(own):
		return nil, own, nil
	case errors.Is(err, ErrRejected):
		return nil, rpc.Errorf(codeRejected, "rejected by the user"), nil
	}
	if ctx.Err() == nil {
		s.cfg.logger.Error("a question was not answered", "method", q.Method, "error", err)
	}
	return nil, rpc.Errorf(rpc.CodeInternalError, "the question could not be answered"), err
}

// sendable reports whether a handler's error may be sent: a reserved code has the meaning of the specification (LET05), and data
// that is no JSON would break the frame (LET01).
func sendable(own *Error) bool {
	return !own.Reserved() && (own.Data == nil || check.Valid(own.Data, check.Limits{}) == nil)
}

func (s *Session) handle(ctx context.Context, d *wire.Dialect, op wire.Op, q *Question) ([]byte, error) {
	h := &s.cfg.handlers
	switch op {
	case wire.OpElicit:
		ask := h.Elicit
		if q.URL != "" {
			ask = h.OpenURL
		}
		a, err := ask(ctx, q)
		switch {
		case err != nil:
			return nil, err
		case a == nil:
			return nil, errors.New("the handler returned neither an answer nor an error; to refuse, return an Answer with an Action")
		}
		return elicitResult(d, a, q)
	case wire.OpCreateMessage:
		result, err := h.Sample(ctx, q)
		if err != nil {
			return nil, err
		}
		if err = resultError(d, result); err == nil {
			err = sampledError(d, q.Params, result)
		}
		if err != nil {
			return nil, fmt.Errorf("the result of Handlers.Sample can not be sent: %w", err)
		}
		return result, nil
	default:
		roots, err := h.Roots(ctx, q)
		if err != nil {
			return nil, err
		}
		return rootList(roots)
	}
}

// resultError returns an error for a result that can not be sent.
func resultError(d *wire.Dialect, raw []byte) error {
	if err := validJSON(raw); err != nil {
		return err
	}
	if raw = bytes.TrimSpace(raw); raw[0] != '{' {
		return errors.New("the result is no JSON object")
	}
	if meta := memberOf(raw, d.Meta); meta != nil && meta[0] != '{' {
		return errors.New("the " + d.Meta + " of the result is no JSON object")
	}
	return nil
}

func rootList(roots []Root) ([]byte, error) {
	for _, r := range roots {
		if !strings.HasPrefix(strings.ToLower(r.URI), "file://") {
			return nil, errors.New("the root " + r.URI + " is no file:// address")
		}
	}
	if roots == nil {
		roots = []Root{}
	}
	return encode(struct {
		Roots []Root `json:"roots"`
	}{roots})
}

// elicitResult encodes the answer of a user. The content of an accepted form is validated and completed.
func elicitResult(d *wire.Dialect, a *Answer, q *Question) ([]byte, error) {
	var v wire.Values
	v.SetText(wire.SlotAction, string(a.Action))
	switch {
	case a.Action != Accepted && a.Action != Declined && a.Action != Dismissed:
		return nil, errors.New("unknown action " + string(a.Action))
	case a.Action == Accepted && q.URL == "":
		content, err := q.Complete(a.Content)
		if err != nil {
			return nil, err
		}
		v[wire.SlotContent] = content
	}
	return d.ElicitResult.Append(nil, &v, nil)
}

// unanswered returns the answer to a question whose time has passed.
func unanswered(d *wire.Dialect, op wire.Op) ([]byte, *Error) {
	if op == wire.OpElicit {
		if result, err := elicitResult(d, &Answer{Action: Dismissed}, nil); err == nil {
			return result, nil
		}
	}
	return nil, rpc.Errorf(rpc.CodeInternalError, "not answered in time")
}
