package server

import (
	"strings"
	"testing"
)

// TestREV02TheOrderOfMembersDoesNotMatter sends every message in all 24 orders of its members: params are read on the way
// where the method comes before them, and later where it does not.
func TestREV02TheOrderOfMembersDoesNotMatter(t *testing.T) {
	const id = `"id":7`
	meta := func(version string) string {
		return `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientCapabilities":{}}`
	}
	for name, row := range map[string]struct{ method, params, want string }{
		"a call":                     {`"tools/call"`, `{"name":"echo","arguments":{"text":"hi"}}`, `hi`},
		"escapes in the method":      {`"tools\/call"`, `{"name":"echo","arguments":{"text":"hi"}}`, `hi`},
		"a stateless call":           {`"tools/call"`, `{"name":"echo","arguments":{"text":"hi"},` + meta("2026-07-28") + `}`, `"resultType":"complete"`},
		"an unknown revision":        {`"tools/call"`, `{"name":"echo",` + meta("2031-01-01") + `}`, `"2031-01-01\" is not supported`},
		"the session's revision":     {`"tools/call"`, `{"name":"echo","arguments":{"text":"hi"},` + meta("2025-11-25") + `}`, `hi`},
		"params with a wrong member": {`"tools/call"`, `{"name":7}`, `invalid params of tools/call: /name: `},
		"params without a name":      {`"tools/call"`, `{}`, `invalid params of tools/call: /name: `},
		"params of no object":        {`"tools/call"`, `[]`, `params must be an object`},
		"a key twice":                {`"tools/call"`, `{"name":"echo","arguments":{"text":"a","text":"b"}}`, `/text: duplicate: found \"text\", allowed: each key once"}],"isError":true`},
		"VAL02 an unknown key twice": {`"tools/call"`, `{"name":"echo","arguments":{"text":"a","x":{"k":1,"k":2}}}`, `/x/k: duplicate: found \"k\", allowed: each key once`},
		"a known key twice":          {`"tools/call"`, `{"name":"echo","name":"echo"}`, `repeated key \"name\" at /params/name`},
		"an unknown method":          {`"tools/none"`, `{"name":"echo"}`, `unknown method \"tools/none\"`},
		"a method without params":    {`"ping"`, `{"x":1}`, `"result":{}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}}).dial(t.Context())
			c.initialize(`{}`)
			permute([]string{`"jsonrpc":"2.0"`, id, `"method":` + row.method, `"params":` + row.params}, func(members []string) {
				frame := "{" + strings.Join(members, ",") + "}"
				c.send(frame)
				if got := c.next().raw; !strings.Contains(got, row.want) || !strings.Contains(got, id) {
					t.Errorf("%s\nis answered with %s\nwithout %s", frame, got, row.want)
				}
			})
			if got := c.fence(); len(got) != 0 {
				t.Error(got)
			}
		})
	}
}

// permute calls f with every order of list.
func permute(list []string, f func([]string)) {
	var from func(i int)
	from = func(i int) {
		if i == len(list) {
			f(list)
		}
		for j := i; j < len(list); j++ {
			list[i], list[j] = list[j], list[i]
			from(i + 1)
			list[i], list[j] = list[j], list[i]
		}
	}
	from(0)
}
