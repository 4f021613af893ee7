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
