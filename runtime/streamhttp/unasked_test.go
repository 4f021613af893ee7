package streamhttp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// An answer to what this process has not asked in the session is refused, so that nobody takes it for arrived: it may be to a question of before a restart
// (basic/transports#sending-messages-to-the-server). One that comes again, because its acknowledgement was lost, or late, is taken: the client could not know.
func TestCAN30AnAnswerToWhatWasNotAskedIsRefused(t *testing.T) {
	store := task.NewMemory()
	before, after := newReplica(t, store, sealKey), newReplica(t, store, sealKey)
	session := before.initialize()
	const yes = `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":"yes"}}}`
	ask := func(f *fixture) (s *events, id string) {
		s = f.events(f.post(callBody("1", "ask", ""), session))
		return s, field(s.message().data, "id")
	}
	_, old := ask(before)
	refuse := func(answer string) {
		t.Helper()
		resp := after.post(answer, session)
		if text := body(resp); resp.StatusCode != 400 || !strings.Contains(text, "has not asked") || field(text, "id") != "" {
			t.Errorf("%s: %d %s", answer, resp.StatusCode, text)
		}
	}
	refuse(fmt.Sprintf(yes, old))
	s, id := ask(after)
	for _, unasked := range []string{old, "77", `"x"`, `"` + id + `"`, id + "0"} {
		refuse(fmt.Sprintf(yes, unasked))
	}
	refuse(`{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"no"}}`)
	for range 2 {
		after.want(after.post(fmt.Sprintf(yes, id), session), 202)
	}
	if e := s.message(); !strings.Contains(e.data, "accept yes") {
		t.Errorf("answer %s", e.data)
	}
	after.want(after.post(fmt.Sprintf(yes, id), session), 202)
	after.want(after.post(`{"jsonrpc":"2.0","error":{"code":-32700,"message":"I can not read that"}}`, session), 202)
}

// A client that resumes the stream of a request of another process, or of before a restart, gets an error for the request, so that it does not wait
// for ever. A listener goes on as a new one (LET13).
func TestDUR01ARequestWhoseStreamIsForgottenEndsWithAnError(t *testing.T) {
	store := task.NewMemory()
	before, after := newReplica(t, store, sealKey), newReplica(t, store, sealKey)
	session := before.initialize()
	ended := func(last, request string) {
		t.Helper()
		s := after.listen(session, "Last-Event-ID: "+last)
		if e := s.message(); field(e.data, "id") != request || field(e.data, "error", "code") != "-32603" || !strings.Contains(e.data, "may have run") {
			t.Errorf("request %s: %s", request, e.data)
		}
		s.end()
	}
	for _, request := range []string{"7", `"a.b c"`} {
		s := before.events(before.post(callBody(request, "ask", ""), session))
		prime, _ := s.next()
		question := s.message()
		for range 2 {
			ended(prime.id, request)
			ended(question.id, request)
		}
	}
	listener := before.listen(session)
	prime, _ := listener.next()
	again := after.listen(session, "Last-Event-ID: "+prime.id)
	if err := after.only().sendToListener([]byte(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	if e := again.message(); e.data != `{"n":1}` {
		t.Errorf("the listener got %+v", e)
	}
}
