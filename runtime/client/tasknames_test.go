package client_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

const moments = `"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z"`

// A task repeats its questions until they are answered: a key is asked once, and each answer goes as soon as it is there.
func TestEXT22AKeyIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		asked := map[string]int{}
		s, p := meetOffering(t, "2026-07-28", taskOffers, elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
			mu.Lock()
			asked[q.Key]++
			mu.Unlock()
			if q.Key == "slow" {
				<-time.After(time.Minute)
			}
			return accept(ctx, q)
		}))
		done := start(t.Context(), s, "x")
		state := func(kind, status, more string) string {
			return fmt.Sprintf(`{"resultType":%q,"taskId":"t1","status":%q,%s,"ttlMs":null,"pollIntervalMs":10000%s}`, kind, status, moments, more)
		}
		p.answer(p.expect("tools/call"), state("task", "working", ""))
		question := `{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`
		open := map[string]bool{"quick": true, "slow": true}
		for len(open) > 0 {
			switch m := p.next(); m.Method {
			case "tasks/get":
				p.answer(m, state("complete", "input_required", `,"inputRequests":{"quick":`+question+`,"slow":`+question+`}`))
			case "tasks/update":
				for key := range open {
					if want := fmt.Sprintf(`"inputResponses":{%q:{"action":"accept","content":{}}}`, key); strings.Contains(m.raw, want) {
						delete(open, key)
					}
				}
				p.answer(m, `{"resultType":"complete"}`)
			default:
				t.Fatal(m.raw)
			}
		}
		p.answer(p.expect("tasks/get"), state("complete", "completed", `,"result":{"content":[]}`))
		if r := <-done; r.err != nil {
			t.Error(r.err)
		}
		if asked["quick"] != 1 || asked["slow"] != 1 {
			t.Errorf("asked %v", asked)
		}
	})
}

func TestEXT22RequestsAboutATaskNameIt(t *testing.T) {
	var mu sync.Mutex
	names := map[string]string{}
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		mu.Lock()
		names[m.Method] = r.Header.Get("Mcp-Name")
		mu.Unlock()
		task := `"taskId":"größe",` + moments + `,"ttlMs":null,"pollIntervalMs":1`
		switch m.Method {
		case "server/discover":
			answer(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+taskOffers+`,"ttlMs":0,"cacheScope":"private"}`)
		case "tools/call":
			answer(w, m, `{"resultType":"task","status":"working",`+task+`}`)
		case "tasks/get":
			answer(w, m, `{"resultType":"complete","status":"completed",`+task+`,"result":{"content":[]}}`)
		default:
			answer(w, m, `{"resultType":"complete"}`)
		}
	})
	s := dialHTTP(t, url)
	x, err := s.Start(t.Context(), "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = x.Cancel(t.Context(), "")
	if _, err := x.Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if names["tasks/get"] != "=?base64?Z3LDtsOfZQ==?=" || names["tasks/cancel"] != names["tasks/get"] || names["tools/call"] != "x" {
		t.Errorf("%q", names)
	}
}
