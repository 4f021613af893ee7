package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// A call that is answered with its questions is over for middleware: next says so, and whatever becomes of that is neither sent nor an error in the log.
func TestSRV01MiddlewareOfACallThatAsks(t *testing.T) {
	for name, after := range map[string]func(error) (*MessageResult, error){
		"as it is":          func(err error) (*MessageResult, error) { return nil, err },
		"another error":     func(error) (*MessageResult, error) { return nil, errors.New("denied") },
		"a result":          func(error) (*MessageResult, error) { return ResultOf(json.RawMessage(`{"content":[]}`)), nil },
		"a result, invalid": func(error) (*MessageResult, error) { return ResultOf(json.RawMessage(`{"content":5}`)), nil },
	} {
		t.Run(name, func(t *testing.T) {
			var logged syncBuffer
			var l trail
			asked := make(chan error, 1)
			f := dual(t, Definition{Tools: []Tool{asker(confirmQuestion())}}, WithGather(0), WithObserver(l.observe),
				WithLogger(slog.New(slog.NewTextHandler(&logged, nil))), WithMiddleware(func(next Handle) Handle {
					return func(ctx context.Context, m *Message) (*MessageResult, error) {
						_, err := next(ctx, m)
						asked <- err
						return after(err)
					}
				}))
			m, keys, _ := f.try(t.Context(), forms, "ask", `{}`, "")
			if len(keys) != 1 || keys[0] != "confirm" {
				t.Error(m.raw)
			}
			if err := <-asked; !errors.Is(err, ErrAsked) {
				t.Errorf("next returned %v", err)
			}
			_ = f.srv.Shutdown(t.Context())
			f.srv.records.Flush(t.Context())
			if strings.Contains(logged.String(), "ERROR") {
				t.Error(logged.String())
			}
			l.want(t, "request began tools/call ask", "question asked tools/call ask confirm", "request ended tools/call ask asked")
		})
	}
}
