package client_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// tooMany are the lines of an event that is too large for a session of limited: an event may have its data in one line or several, and its id after them.
func tooMany(begins string) map[string]string {
	part := strings.Repeat("x", frameLimit)
	whole := begins + `"params":{"level":"info","message":"` + strings.Repeat(part, 6) + `"}}`
	lines := "data: " + begins + "\ndata: \"params\":{\"level\":\"info\",\ndata:\"message\":\"" + part[:900] + "\",\n" + strings.Repeat("data: \"more\":\""+part[:100]+"\",\n", 40) + "data: \"data\":\"\"}}"
	return map[string]string{"one line": "data: " + whole + "\nid: 7\n\n", "\\r": "data:" + whole + "\rid: 7\r\r", "\\r\\n": "id: 7\r\ndata:" + whole + "\r\n\r\n", "several lines": lines + "\nid: 7\n\n"}
}

// limited dials a server that begins its response to a call with a stream of events, and ends it with the result. It returns the answer to what was asked.
func limited(t *testing.T, revision, events string, opts ...client.Option) (r *client.ToolResult, said message, err error) {
	answers := make(chan message, 1)
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		switch {
		case m.Method == "server/discover":
			answer(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+offers+`,"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`)
		case m.Method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte(events))
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", m.ID, complete(revision, "fine"))
		case m.Method == "" && m.Error != nil:
			answers <- m
			w.WriteHeader(http.StatusAccepted)
		default:
			session(w, r, m, "s")
		}
	})
	s := dialHTTP(t, url, append(opts, client.WithRevision(revision), client.WithMaxFrame(frameLimit))...)
	r, err = s.CallTool(t.Context(), "x", nil)
	if strings.Contains(events, `"q"`) {
		said = <-answers
	}
	return r, said, err
}

// Over HTTP, too, what the server tells too large is dropped, and what it asks is refused by its id: neither meets the call on whose stream it comes.
func TestCAN30WhatTheServerAsksOrTellsTooLargeOverHTTP(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for name, event := range tooMany(`{"jsonrpc":"2.0","method":"notifications/message",`) {
			if r, _, err := limited(t, revision, event); err != nil || r.Text() != "fine" {
				t.Errorf("%s, %s: a notification: %v", revision, name, err)
			}
		}
		for name, event := range tooMany(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create",`) {
			r, said, err := limited(t, revision, event, elicits(accept))
			if err != nil || r.Text() != "fine" {
				t.Errorf("%s, %s: a question: %v", revision, name, err)
			}
			if string(said.ID) != `"q"` || said.Error.Code != rpc.CodeInvalidRequest || !strings.Contains(said.Error.Message, fmt.Sprint(frameLimit)) {
				t.Errorf("%s, %s: the question was answered %s", revision, name, said.raw)
			}
		}
	}
}

// A comment, or another line that is no data, is skipped however long it is; an event with data of exactly the limit is read.
func TestAStreamMayHaveLongLinesWithoutData(t *testing.T) {
	long := strings.Repeat("x", 5*frameLimit)
	const note = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%s"}}`
	fits := fmt.Sprintf(note, strings.Repeat("x", frameLimit-len(note)+len("%s")))
	heard := make(chan string, 1)
	r, _, err := limited(t, "2025-11-25", ": "+long+"\n"+long+"\ndata: "+fits+"\n: "+long+"\n\n", client.WithHandlers(client.Handlers{Log: func(level, _ string, _ json.RawMessage) { heard <- level }}))
	if err != nil || r.Text() != "fine" || len(fits) != frameLimit {
		t.Fatalf("%v, an event of %d bytes", err, len(fits))
	}
	<-heard
}

// The stream of a session goes on after what was too large for it, whatever that was: it ends no call.
func TestCAN30TheStreamOfASessionGoesOnAfterWhatIsTooLarge(t *testing.T) {
	large := tooMany(`{"jsonrpc":"2.0","method":"notifications/message",`)["one line"]
	unknown := tooMany(`{"jsonrpc":"2.0","own":1,`)["one line"]
	gets, called := make(chan string, 10), make(chan struct{})
	heard := make(chan client.List, 1)
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		switch {
		case m.Method == "tools/call":
			close(called)
			if got := <-heard; got != client.Tools {
				t.Errorf("heard %s", got)
			}
			answer(w, m, complete("2025-11-25", "fine"))
			return
		case r.Method != http.MethodGet:
			session(w, r, m, "s")
			return
		}
		gets <- r.Header.Get("Last-Event-ID")
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-called
		fmt.Fprint(w, large+unknown+"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	s := dialHTTP(t, url, client.WithRevision("2025-11-25"), client.WithMaxFrame(frameLimit), client.WithHandlers(client.Handlers{ListChanged: func(l client.List) { heard <- l }}))
	if r, err := s.CallTool(t.Context(), "x", nil); err != nil || r.Text() != "fine" || len(gets) != 1 {
		t.Errorf("%v, after %d requests", err, len(gets))
	}
}

// An answer that is too large ends its call at once, and the error is not that the server broke the protocol: it says whose limit that is, and what helps.
func TestCAN30AnAnswerThatIsTooLargeOverHTTP(t *testing.T) {
	text := strings.Repeat("x", 4*frameLimit)
	for _, kind := range []string{"application/json", "text/event-stream"} {
		url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
			if session(w, r, m, "s") {
				return
			}
			w.Header().Set("Content-Type", kind)
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, complete("2025-11-25", text))
			if kind != "application/json" {
				body = "data: " + body + "\n\n"
			}
			_, _ = w.Write([]byte(body))
		})
		s := dialHTTP(t, url, client.WithRevision("2025-11-25"), client.WithMaxFrame(frameLimit))
		_, err := s.CallTool(t.Context(), "x", nil)
		if !tellsTheLimit(result{nil, err}) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
