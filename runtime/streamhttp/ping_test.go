package streamhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// sharedRecorder is read while it is written.
type sharedRecorder struct {
	*httptest.ResponseRecorder
	mu sync.Mutex
}

func (r *sharedRecorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ResponseRecorder.Write(b)
}

func (r *sharedRecorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Body.String()
}

// attend reads the stream of a session until the returned function is called; it waits for that.
func attend(h http.Handler, session string) (w *sharedRecorder, leave func()) {
	ctx, cancel := context.WithCancel(context.Background())
	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil).WithContext(ctx)
	r.Header.Set("Mcp-Session-Id", session)
	r.Header.Set("Accept", "text/event-stream")
	w = &sharedRecorder{ResponseRecorder: httptest.NewRecorder()}
	over := make(chan struct{})
	go func() {
		defer close(over)
		h.ServeHTTP(w, r)
	}()
	synctest.Wait()
	return w, func() {
		cancel()
		<-over
	}
}

func TestLET11SessionsThatListenAreAsked(t *testing.T) {
	const pong = `{"jsonrpc":"2.0","id":%d,"result":{}}`
	for name, run := range map[string]struct {
		listens, answers, lives bool
		full                    bool // what others leave unread takes all the space for five minutes
	}{
		"answers":              {true, true, true, false},
		"does not answer":      {true, false, false, false},
		"nobody listens":       {false, false, true, false},
		"can not be asked yet": {true, true, true, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan error, 1)
			srv := newServer(t, []server.Tool{tool("hang", func(ctx context.Context, _ *server.Call, _ *input) (*output, error) {
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return nil, ctx.Err()
			})})
			h := Handler(srv, WithPriming(0), WithIdleTimeout(0))
			session := recorded(h, http.MethodPost, initializeBody, "").Header().Get("Mcp-Session-Id")
			recorded(h, http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session)
			called := make(chan struct{})
			go func() {
				defer close(called)
				recorded(h, http.MethodPost, callBody("1", "hang", ""), session)
			}()
			leave := func() {}
			var heard *sharedRecorder
			if run.listens {
				heard, leave = attend(h, session)
			}
			var others atomic.Int64
			if run.full {
				h.unread.Add(&others, h.unread.Max)
			}
			pings := 0
			for i := range 20 {
				time.Sleep(30 * time.Second)
				if run.full && i == 10 {
					h.unread.Give(&others, h.unread.Max)
				}
				synctest.Wait()
				if heard == nil {
					continue
				}
				if n := strings.Count(heard.text(), `"method":"ping"`); n > pings {
					pings = n
					if run.answers {
						recorded(h, http.MethodPost, fmt.Sprintf(pong, n), session)
					}
				}
			}
			synctest.Wait()
			status := recorded(h, http.MethodPost, `{"jsonrpc":"2.0","id":9,"method":"ping"}`, session).Code
			if run.lives != (status == 200) || run.listens != (pings > 0) {
				t.Errorf("%s: %d pings, then %d", name, pings, status)
			}
			if !run.lives {
				if err := <-ended; !errors.Is(err, server.ErrSilent) {
					t.Errorf("%s: the call ended with %v", name, err)
				}
			}
			leave()
			_ = h.Shutdown(context.Background())
			_ = srv.Shutdown(context.Background())
			<-called
		})
	}
}
