package streamhttp

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A malformed answer is refused, and ends the waiting all the same.
func TestCAN30AMalformedAnswerIsRefusedAndSettles(t *testing.T) {
	f := newFixture(t)
	session, other := f.initialize(), f.initialize()
	for _, answer := range []string{
		`{"jsonrpc":"2.0","id":%s,"error":"x"}`,
		`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":"\ud800"}}}`,
		`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"m"},"result":{"action":"accept"}}`,
		`{"jsonrpc":"2.0","id":%s}`,
		`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":"cu`,
		`{"jsonrpc":"2.0","id":%s,"method":"x","result":{"action":"accept"}}`,
	} {
		stream := f.events(f.post(callBody("1", "ask", ""), session))
		question := field(stream.message().data, "id")
		for _, by := range []string{other, session} {
			if resp := f.post(fmt.Sprintf(answer, question), by); resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %d %s", answer, resp.StatusCode, body(resp))
			}
		}
		if m := stream.message().data; !strings.Contains(m, "malformed") || field(m, "id") != "1" {
			t.Errorf("%s: %s", answer, m)
		}
	}
}

// What is refused before it is parsed as a message settles nothing: the client was told, and can send another answer.
func TestCAN30AnAnswerThatIsNotParsedMayBeSentAgain(t *testing.T) {
	f := newFixture(t, WithMaxBody(2000))
	session := f.initialize()
	stream := f.events(f.post(callBody("1", "ask", ""), session))
	question := field(stream.message().data, "id")
	answer := func(text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":%q}}}`, question, text)
	}
	f.want(f.post(answer(strings.Repeat("x", 2000)), session), 413, "larger than 2000 bytes")
	f.want(f.post("["+answer("no")+"]", session), 400, "batches are not supported")
	f.want(f.post(answer("yes"), session), 202)
	if m := stream.message().data; !strings.Contains(m, "accept yes") {
		t.Error(m)
	}
}
