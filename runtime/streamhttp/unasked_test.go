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
