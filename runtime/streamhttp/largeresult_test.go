package streamhttp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// around is middleware of one function.
func around(wrap func(ctx context.Context, next server.Handle, m *server.Message) (*server.MessageResult, error)) server.Option {
	return server.WithMiddleware(func(next server.Handle) server.Handle {
		return func(ctx context.Context, m *server.Message) (*server.MessageResult, error) { return wrap(ctx, next, m) }
	})
}

// Middleware around messages reads results whole.
func TestSRV01ALargeBlockWithinMiddleware(t *testing.T) {
	var seen atomic.Int64
	f := sourceServer(t, func() (io.ReadCloser, error) { return &source{left: 1 << 20}, nil }, nil,
		around(func(ctx context.Context, next server.Handle, m *server.Message) (*server.MessageResult, error) {
			result, err := next(ctx, m)
			if all, failed := result.JSON(); failed == nil && json.Valid(all) {
				seen.Store(int64(len(all)))
			}
			return result, err
		}))
	got := body(f.call2026("1", "send", ""))
	if !json.Valid([]byte(got)) || seen.Load() < 1<<20 || len(got) < 1<<20 {
		t.Errorf("%d seen, %d sent", seen.Load(), len(got))
	}
}

// Middleware that does not read a result leaves its data where it is, however large, and whatever becomes of the context that it gave to next.
func TestSRV01SRV04ALongAnswerPassesMiddleware(t *testing.T) {
	f := sourceServer(t, func() (io.ReadCloser, error) { return &source{left: longSize}, nil }, nil, server.WithMaxBytesUnread(300<<10),
		around(func(ctx context.Context, next server.Handle, m *server.Message) (*server.MessageResult, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			return next(ctx, m)
		}))
	blob := base64.StdEncoding.EncodeToString(make([]byte, longSize))
	for revision, resp := range map[string]*http.Response{"2026-07-28": f.call2026("1", "send", ""), "2025-11-25": f.post(callBody("1", "send", ""), f.initialize())} {
		if got := body(resp); !strings.Contains(got, blob) {
			t.Errorf("%s: %.300q, %d bytes", revision, got, len(got))
		}
	}
}

// What middleware may do with a result that has data of an Opener.
func TestSRV01SRV04WhatMiddlewareMakesOfALongResult(t *testing.T) {
	late := make(chan *server.MessageResult, 1)
	for name, row := range map[string]struct {
		fails error
		wrap  func(result *server.MessageResult) (*server.MessageResult, error)
		want  string
	}{
		"answers itself": {nil, func(*server.MessageResult) (*server.MessageResult, error) {
			return server.ResultOf([]byte(`{"content":[],"structuredContent":{"text":"own"}}`)), nil
		}, `"text":"own"`},
		"adds to it": {nil, func(result *server.MessageResult) (*server.MessageResult, error) {
			all, err := result.JSON()
			return server.ResultOf([]byte(strings.Replace(string(all), `{`, `{"added":true,`, 1))), err
		}, `"added":true`},
		"reads it in vain": {errors.New("secret"), func(result *server.MessageResult) (*server.MessageResult, error) {
			if all, err := result.JSON(); err == nil {
				t.Errorf("read %d bytes", len(all))
			}
			return result, nil
		}, `"internal error"`},
		"returns why it could not be read": {errors.New("secret"), func(result *server.MessageResult) (*server.MessageResult, error) {
			_, err := result.JSON()
			return nil, err
		}, `"internal error"`},
		"answers itself, after reading it in vain": {errors.New("secret"), func(result *server.MessageResult) (*server.MessageResult, error) {
			_, _ = result.JSON()
			return server.ResultOf([]byte(`{"content":[],"structuredContent":{"text":"own"}}`)), nil
		}, `"text":"own"`},
		"keeps it": {nil, func(result *server.MessageResult) (*server.MessageResult, error) {
			late <- result
			return result, nil
		}, `"text":"z"`},
	} {
		open := func() (io.ReadCloser, error) { return &source{left: 100, fails: row.fails}, nil }
		f := sourceServer(t, open, nil, around(func(ctx context.Context, next server.Handle, m *server.Message) (*server.MessageResult, error) {
			result, err := next(ctx, m)
			if err != nil || m.Method != "tools/call" {
				return result, err
			}
			return row.wrap(result)
		}))
		if got := body(f.call2026("1", "send", "")); !strings.Contains(got, row.want) || strings.Contains(got, "secret") || !json.Valid([]byte(got)) {
			t.Errorf("%s: %.300q", name, got)
		}
	}
	if all, err := (<-late).JSON(); err == nil {
		t.Errorf("read late: %s", all)
	}
}
