package streamhttp

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// A message is acknowledged or refused in an array as it is alone: an array of which nothing can be accepted is refused
// (basic/transports#sending-messages-to-the-server).
func TestCAN24CAN30AnArrayOfWhichNothingIsAcceptedIsRefused(t *testing.T) {
	f := newFixture(t)
	session := f.march()
	const (
		unasked   = `{"jsonrpc":"2.0","id":77,"result":{}}`
		failed    = `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"no"}}`
		malformed = `{"jsonrpc":"2.0","id":78,"error":"x"}`
		notice    = `{"jsonrpc":"2.0","method":"notifications/progress","params":[]}`
	)
	for _, row := range []struct {
		body   string
		status int
		want   []string
	}{
		{unasked, 400, []string{"-32600", "has not asked a request with the id 77"}},
		{"[" + unasked + "]", 400, []string{"-32600", "has not asked a request with the id 77"}},
		{"[" + malformed + "]", 400, []string{"-32600"}},
		{notice, 400, []string{"-32602", "params must be an object"}},
		{"[" + notice + "]", 400, []string{"-32602", "params must be an object"}},
		{"[" + failed + "," + unasked + "]", 400, []string{`none of the 2 messages is accepted; the first: `, `the id \"x\"`}},
		{"[" + unasked + "," + initialized + "]", 202, nil},
		{"[" + initialized + "," + malformed + "]", 202, nil},
		{"[" + unasked + `,{"jsonrpc":"2.0","id":1,"method":"ping"}]`, 200, []string{`[{"jsonrpc":"2.0","id":1,"result":{}}]`}},
		{`[{"jsonrpc":"2.0","id":5}]`, 200, []string{`[{"jsonrpc":"2.0","id":5,"error":{"code":-32600`}}, // it may be a request
	} {
		resp := f.post(row.body, session)
		text := body(resp)
		if resp.StatusCode != row.status || row.status == 400 && field(text, "id") != "" {
			t.Errorf("%s: %d %s", row.body, resp.StatusCode, text)
		}
		for _, want := range row.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: want %s, got %s", row.body, want, text)
			}
		}
	}
	f.want(f.post("["+unasked+"]", session), 400)
	f.want(f.post(twoPings, session), 200, `"id":1`) // the session goes on
}

// An answer in an array settles its question as one that comes alone: also a malformed one, which is refused.
func TestCAN24CAN30AnAnswerInAnArraySettlesItsQuestion(t *testing.T) {
	f := newFixture(t)
	session := f.marchWith(`{"elicitation":{}}`)
	for _, row := range []struct {
		answer string
		status int
		want   string
	}{
		{`[{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":"yes"}}}]`, 202, "accept yes"},
		{`[{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":5}}}]`, 202, "/text: type: found 5"},
		{`[{"jsonrpc":"2.0","id":%s,"error":"x"}]`, 400, "malformed"},
		{`[{"jsonrpc":"2.0","id":%s}]`, 400, "malformed"},
		{`[{"jsonrpc":"2.0","id":%s,"error":"x"},` + initialized + `]`, 202, "malformed"},
	} {
		stream := f.events(f.post(callBody("1", "ask", ""), session))
		answer := fmt.Sprintf(row.answer, field(stream.message().data, "id"))
		if resp := f.post(answer, session); resp.StatusCode != row.status {
			t.Errorf("%s: %d %s", answer, resp.StatusCode, body(resp))
		}
		if m := stream.message().data; !strings.Contains(m, row.want) || field(m, "id") != "1" {
			t.Errorf("%s: want %s, got %s", answer, row.want, m)
		}
	}
}

// An array is acknowledged when the answer to a task's question in it is recorded.
func TestCAN24DUR01AnAnswerInAnArrayIsAcknowledgedWhenItIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &holdingStore{Store: task.NewMemory()}
		f := newAskingBubble(t, server.WithTaskStore(store))
		session := f.marchWith(`{"elicitation":{},"tasks":{}}`)
		s, _ := f.stream(session, "7", f.create(session))
		answer := fmt.Sprintf(`[%s,{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":"yes"}}}]`, initialized, field(s.question(), "id"))
		release := store.hold()
		status := make(chan int, 1)
		go func() { status <- f.post(answer, session).StatusCode }()
		synctest.Wait()
		if len(status) > 0 {
			t.Error("the array is acknowledged, and the answer is not recorded")
		}
		release()
		if got := <-status; got != 202 {
			t.Errorf("recorded: %d", got)
		}
	})
}
