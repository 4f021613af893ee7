package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// refuse answers a request with a status, and a Retry-After and a body with the request's id if they are not "".
func refuse(status int, after, body string) func(m message) (*http.Response, error) {
	return func(m message) (*http.Response, error) {
		w := httptest.NewRecorder()
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		if body != "" {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(status)
		if body != "" {
			_, _ = fmt.Fprintf(w, body, m.ID)
		}
		return w.Result(), nil
	}
}

func fail(err error) func(message) (*http.Response, error) {
	return func(message) (*http.Response, error) { return nil, err }
}

// busyAnswer begins an error that does not say whether the call has run.
const busyAnswer = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"busy"`

// A call that carries what the user has answered is sent again if the server has not taken it, and never if it may have run.
func TestEXT17ACallWithAnswersIsSentAgainIfItHasNotRun(t *testing.T) {
	type row struct {
		fails  func(m message) (*http.Response, error)
		waits  time.Duration
		never  string // why it is not sent again
		always bool   // it fails each time
	}
	for name, c := range map[string]row{
		"connection refused":         {fails: fail(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), waits: time.Second},
		"503":                        {fails: refuse(503, "20", ""), waits: 20 * time.Second},
		"429":                        {fails: refuse(429, "7", ""), waits: 7 * time.Second},
		"503 with a message":         {fails: refuse(503, "9", busyAnswer+`}}`), waits: 9 * time.Second},
		"a message that says when":   {fails: refuse(200, "", busyAnswer+`,"data":{"retryAfterMs":5000}}}`), waits: 5 * time.Second},
		"503 for ever":               {fails: refuse(503, "1", ""), never: "HTTP status 503", always: true},
		"the connection breaks":      {fails: fail(io.ErrUnexpectedEOF), never: "may have run"},
		"a reset":                    {fails: fail(&net.OpError{Op: "read", Err: syscall.ECONNRESET}), never: "may have run"},
		"502":                        {fails: refuse(502, "", ""), never: "may have run"},
		"500 with a message":         {fails: refuse(500, "", busyAnswer+`}}`), never: "busy"},
		"an error that is an answer": {fails: refuse(200, "", busyAnswer+`}}`), never: "busy"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, answered, sent := 0, 0, 0
				endpoint := client.HTTP("http://server.example/mcp")
				endpoint.Client = &http.Client{Transport: roundTrip(func(_ *http.Request, m message) (*http.Response, error) {
					w := httptest.NewRecorder()
					switch {
					case m.Method == "server/discover":
						answer(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+offers+`,"ttlMs":0,"cacheScope":"private"}`)
					case !strings.Contains(string(m.Params), "inputResponses"):
						asked++
						answer(w, m, `{"resultType":"input_required","requestState":"s","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}}`)
					default:
						if sent++; sent == 1 || c.always {
							return c.fails(m)
						}
						has(t, string(m.Params), `"requestState":"s"`, `"a":{"action":"accept"`)
						answer(w, m, complete("2026-07-28", "done"))
					}
					return w.Result(), nil
				})}
				s, err := client.Connect(t.Context(), endpoint, client.WithHandlers(client.Handlers{Elicit: func(context.Context, *client.Question) (*client.Answer, error) {
					answered++
					return &client.Answer{Action: client.Accepted}, nil
				}}))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				began := time.Now()
				r, err := s.CallTool(t.Context(), "x", nil, client.Timeout(time.Minute, 10*time.Minute))
				switch waited := time.Since(began); {
				case asked != 1 || answered != 1:
					t.Errorf("asked %d times, answered %d times", asked, answered)
				case c.never == "" && (err != nil || r.Text() != "done" || sent != 2 || waited < c.waits || waited > c.waits+time.Second):
					t.Errorf("%v, sent %d times in %v", err, sent, waited)
				case c.never != "" && (err == nil || sent != 1 && !c.always || c.always && sent < 3):
					t.Errorf("%v, sent %d times", err, sent)
				case c.never != "":
					has(t, err.Error(), c.never)
					_, lost := errors.AsType[*client.TransportError](err)
					if _, status := errors.AsType[*client.StatusError](err); c.never == "may have run" && !lost && !status {
						t.Errorf("%T", err)
					}
				}
			})
		})
	}
}

// The wait counts in the maximum of the call, and the call can be given up meanwhile (CAN15, CAN16).
func TestCAN16TheWaitForABusyServerCounts(t *testing.T) {
	for _, cancel := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			endpoint := client.HTTP("http://server.example/mcp")
			endpoint.Client = &http.Client{Transport: roundTrip(func(_ *http.Request, m message) (*http.Response, error) {
				w := httptest.NewRecorder()
				switch {
				case m.Method == "server/discover":
					answer(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+offers+`,"ttlMs":0,"cacheScope":"private"}`)
				case !strings.Contains(string(m.Params), "requestState"):
					answer(w, m, `{"resultType":"input_required","requestState":"s"}`)
				default:
					w.Header().Set("Retry-After", "120")
					w.WriteHeader(http.StatusServiceUnavailable)
				}
				return w.Result(), nil
			})}
			s, err := client.Connect(t.Context(), endpoint)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			ctx, end := context.WithCancel(t.Context())
			defer end()
			if cancel {
				time.AfterFunc(5*time.Second, end)
			}
			began := time.Now()
			_, err = s.CallTool(ctx, "x", nil, client.Timeout(time.Minute, 30*time.Second))
			want := 30 * time.Second
			if cancel {
				want = 5 * time.Second
			}
			if took := time.Since(began); err == nil || took < want || took > want+time.Second {
				t.Errorf("%v after %v", err, took)
			}
		})
	}
}
