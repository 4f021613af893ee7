package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// A tool whose taskSupport is another one by now is called as it is to be by now, by Start and by CallTool; one that is refused for another reason is called once.
func TestTSK03AToolThatHasChangedIsCalledAsItIs(t *testing.T) {
	for _, c := range []struct{ before, now, calls string }{
		{"optional", "forbidden", "task,plain"},
		{"required", "forbidden", "task,plain"},
		{"forbidden", "required", "plain,task"},
		{"forbidden", "forbidden", "plain"},
	} {
		for _, starts := range []bool{true, false} {
			want := c.calls
			if c.before == "optional" && !starts {
				want = "plain"
			}
			synctest.Test(t, func(t *testing.T) {
				s, p := meetOffering(t, "2025-11-25", taskOffers)
				support, refusesAll := c.before, c.before == c.now
				var calls []string
				go p.each(func(m message) {
					switch asks := strings.Contains(string(m.Params), `"task"`); {
					case m.Method == "tools/list":
						p.answer(m, `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"`+support+`"}}]}`)
					case m.Method == "tools/call":
						calls = append(calls, map[bool]string{true: "task", false: "plain"}[asks])
						switch {
						case refusesAll || asks != (support == "required"):
							p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"not so"}}`, m.ID)
						case asks:
							p.answer(m, `{"task":{"taskId":"t1",`+moments+`,"ttl":null,"pollInterval":1000,"status":"working"}}`)
						default:
							p.answer(m, `{"content":[]}`)
						}
					case m.Method == "tasks/get":
						p.answer(m, `{"taskId":"t1",`+moments+`,"ttl":null,"status":"completed"}`)
					case m.Method == "tasks/result":
						p.answer(m, `{"content":[]}`)
					}
				})
				for range s.ListTools(t.Context()) {
				}
				support = c.now
				var err error
				if starts {
					_, err = s.Start(t.Context(), "x", nil)
				} else {
					_, err = s.CallTool(t.Context(), "x", nil)
				}
				var refused *client.Error
				if got := strings.Join(calls, ","); got != want || (err != nil) != refusesAll || err != nil && !errors.As(err, &refused) {
					t.Errorf("%+v, Start: %v: called %s, want %s: %v", c, starts, got, want, fmt.Sprint(err))
				}
			})
		}
	}
}
