package client_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// restarting is a server of 2025-11-25 whose task t1 asks on the stream of the request for its result. The first such stream is lost, and what it was for is
// forgotten: what resumes it does not go on with it.
type restarting struct {
	mu       sync.Mutex
	requests int    // for the result
	resumes  string // what a GET that resumes the stream gets: "silence", "end", "refusal", "failure"
	black    bool   // the loss of the stream is not seen
	answers  []string
	events   *io.PipeWriter // of the newest request for the result
	done     bool           // the task has its answer
	over     bool           // it is over, though its answer came to nobody
}

func (f *restarting) serve(r *http.Request, m message) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := httptest.NewRecorder()
	state := map[bool]string{false: "input_required", true: "completed"}[f.done || f.over]
	switch {
	case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") != "":
		return f.resume(r)
	case r.Method != http.MethodPost:
		return status(http.StatusMethodNotAllowed), nil
	case m.Method == "initialize":
		answer(w, m, `{"protocolVersion":"2025-11-25","capabilities":`+taskOffers+`,"serverInfo":{"name":"restarting","version":"1"}}`)
	case m.Method == "tasks/get":
		answer(w, m, `{"taskId":"t1",`+moments+`,"ttl":null,"pollInterval":1000,"status":"`+state+`"}`)
	case m.Method == "tasks/result" && (f.done || f.over) && f.requests > 0:
		f.requests++
		answer(w, m, `{"content":[{"type":"text","text":"here"}]}`)
	case m.Method == "tasks/result":
		f.requests++
		var resp *http.Response
		resp, f.events = eventStream(r)
		question := strings.Replace(ofTask(goodForm), `"id":"q"`, `"id":"q`+string(rune('0'+f.requests))+`"`, 1)
		go func(to io.Writer) { _, _ = io.WriteString(to, "id: e1\ndata: "+question+"\n\n") }(f.events)
		return resp, nil
	case m.Method == "":
		f.answers = append(f.answers, string(m.ID))
		if string(m.ID) == `"q2"` {
			f.done = true
		}
		return status(http.StatusAccepted), nil
	default:
		return status(http.StatusAccepted), nil
	}
	return w.Result(), nil
}

// resume answers a GET that resumes the lost stream.
func (f *restarting) resume(r *http.Request) (*http.Response, error) {
	switch f.resumes {
	case "silence":
		resp, _ := eventStream(r)
		return resp, nil
	case "end":
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: http.NoBody, Request: r}, nil
	case "refusal":
		return status(http.StatusBadRequest), nil
	}
	return nil, io.ErrUnexpectedEOF
}

// lose has the server restart: its stream is lost, as far as the client sees that, and only a new request for the result is served.
func (f *restarting) lose(over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over = over; !f.black {
		_ = f.events.CloseWithError(io.ErrUnexpectedEOF)
	}
}

// A server that has restarted while the question of a task was open has forgotten it, and acknowledges its answer all the same. Whatever it says to the GET that
// resumes the stream, the request for the result is repeated, and the task asks again (TSK27, DUR05).
func TestTSK27DUR05AServerThatForgotAQuestionIsAskedForTheResultAgain(t *testing.T) {
	for _, resumes := range []string{"silence", "end", "refusal", "failure"} {
		synctest.Test(t, func(t *testing.T) {
			f := &restarting{resumes: resumes}
			result, thinks := f.follow(t)
			f.lose(false)
			close(thinks)
			sleep(t.Context(), 30*time.Second)
			f.wantResult(t, resumes, result)
		})
	}
}

// The result of a task that is over comes by another request, also if the loss of the first one's stream is not seen (TSK27).
func TestTSK27TheResultOfATaskThatIsOverIsAskedForAgain(t *testing.T) {
	for _, resumes := range []string{"silence", "end", "refusal", "failure", "a stream that is lost unseen"} {
		synctest.Test(t, func(t *testing.T) {
			f := &restarting{resumes: resumes, black: strings.HasPrefix(resumes, "a stream")}
			result, thinks := f.follow(t)
			f.lose(true)
			defer close(thinks)
			sleep(t.Context(), 30*time.Second)
			f.wantResult(t, resumes, result)
		})
	}
}

// follow resumes the task, and returns when its question is open. The user answers when thinks is closed.
func (f *restarting) follow(t *testing.T) (done <-chan result, thinks chan struct{}) {
	t.Helper()
	endpoint := client.HTTP("http://server.example/mcp")
	endpoint.Client = &http.Client{Transport: roundTrip(f.serve)}
	asked, thinks := make(chan struct{}, 9), make(chan struct{})
	s := connect(t, endpoint, []client.Option{client.WithRevision("2025-11-25"), client.WithHandlers(client.Handlers{
		Elicit: func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
			asked <- struct{}{}
			select {
			case <-thinks:
			case <-ctx.Done():
			}
			return &client.Answer{Action: client.Accepted}, nil
		},
	})})
	x := resume(t, s)
	results := make(chan result, 1)
	go func() {
		r, err := x.Result(t.Context())
		results <- result{r, err}
	}()
	<-asked
	return results, thinks
}

// wantResult wants the result to be there, by two requests.
func (f *restarting) wantResult(t *testing.T, how string, done <-chan result) {
	t.Helper()
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case r := <-done:
		if r.err != nil || r.Text() != "here" {
			t.Errorf("%s: %v, %v", how, r.ToolResult, r.err)
		}
	default:
		t.Errorf("%s: there is no result after %d requests, and the answers %q", how, f.requests, f.answers)
	}
	if f.requests > 3 {
		t.Errorf("%s: %d requests for the result", how, f.requests)
	}
}
