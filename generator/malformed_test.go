package generator

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// asked is a request that the conformance server knows, with params that are well-formed and some that are not.
type asked struct {
	method, params string
	wrong          map[string]string      // params, to where a violation is
	in             func(name string) bool // the revisions that have it
}

func allRevisions(string) bool          { return true }
func handshakeRevisions(at string) bool { return at < "2026-07-28" }
func statelessRevisions(at string) bool { return at >= "2026-07-28" }
func tasksByParams(at string) bool      { return at == "2025-11-25" }

var everyRequest = []asked{
	{"tools/list", ``, map[string]string{`"cursor":5`: "/cursor"}, allRevisions},
	{"tools/call", `"name":"test_sampling","arguments":{"prompt":"p"}`, map[string]string{
		`"name":"test_sampling","arguments":[]`: "/arguments", `"name":"test_sampling","arguments":5`: "/arguments", `"name":"test_sampling","arguments":"{}"`: "/arguments",
		`"arguments":{}`: "/name", `"name":5`: "/name", `"name":null`: "/name",
	}, allRevisions},
	{"tools/call", `"name":"test_sampling","arguments":{"prompt":"p"}`, map[string]string{
		`"name":"test_sampling","inputResponses":[]`: "/inputResponses", `"name":"test_sampling","requestState":5`: "/requestState",
	}, statelessRevisions},
	{"prompts/list", ``, map[string]string{`"cursor":{}`: "/cursor"}, allRevisions},
	{"prompts/get", `"name":"p"`, map[string]string{``: "/name", `"name":5`: "/name", `"name":"p","arguments":[]`: "/arguments", `"name":"p","arguments":{"a":5}`: "/arguments/a"}, allRevisions},
	{"resources/list", ``, map[string]string{`"cursor":[]`: "/cursor"}, allRevisions},
	{"resources/templates/list", ``, map[string]string{`"cursor":true`: "/cursor"}, allRevisions},
	{"resources/read", `"uri":"a:b"`, map[string]string{``: "/uri", `"uri":5`: "/uri"}, allRevisions},
	{"completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`, map[string]string{
		`"ref":{"type":"ref/prompt","name":"p"}`: "/argument", `"ref":5,"argument":{"name":"a","value":""}`: "/ref",
		// What a reference is to is what its type says, whatever other members it has.
		`"ref":{"type":"ref/x","name":"p"},"argument":{"name":"a","value":""}`: "/ref/type", `"ref":{"name":"p"},"argument":{"name":"a","value":""}`: "/ref/type",
		`"ref":{"type":5,"name":"p"},"argument":{"name":"a","value":""}`: "/ref/type", `"ref":{"uri":"a:b","type":null},"argument":{"name":"a","value":""}`: "/ref/type",
		`"ref":{"type":"ref/resource","name":"p"},"argument":{"name":"a","value":""}`: "/ref/uri", `"ref":{"type":"ref/prompt","uri":"a:b"},"argument":{"name":"a","value":""}`: "/ref/name",
		`"ref":{"name":5,"uri":"a:b","type":"ref/prompt"},"argument":{"name":"a","value":""}`: "/ref/name", `"ref":{},"argument":{"name":"a","value":""}`: "/ref/type",
	}, allRevisions},
	{"ping", ``, nil, handshakeRevisions},
	{"logging/setLevel", `"level":"info"`, map[string]string{``: "/level", `"level":5`: "/level"}, handshakeRevisions},
	{"resources/subscribe", `"uri":"a:b"`, map[string]string{``: "/uri", `"uri":5`: "/uri"}, handshakeRevisions},
	{"resources/unsubscribe", `"uri":"a:b"`, map[string]string{``: "/uri", `"uri":5`: "/uri"}, handshakeRevisions},
	{"tasks/get", `"taskId":"t"`, map[string]string{``: "/taskId", `"taskId":5`: "/taskId"}, func(at string) bool { return at >= "2025-11-25" }},
	{"tasks/cancel", `"taskId":"t"`, map[string]string{``: "/taskId", `"taskId":5`: "/taskId"}, func(at string) bool { return at >= "2025-11-25" }},
	{"tasks/result", `"taskId":"t"`, map[string]string{``: "/taskId", `"taskId":5`: "/taskId"}, tasksByParams},
	{"tasks/update", `"taskId":"t","inputResponses":{}`, map[string]string{`"inputResponses":{}`: "/taskId", `"taskId":"t"`: "/inputResponses", `"taskId":"t","inputResponses":[]`: "/inputResponses"}, statelessRevisions},
	{"server/discover", ``, nil, statelessRevisions},
	{"subscriptions/listen", `"notifications":{}`, map[string]string{
		``: "/notifications", `"notifications":5`: "/notifications", `"notifications":{"toolsListChanged":"yes"}`: "/notifications/toolsListChanged",
		`"notifications":{"resourceSubscriptions":"a:b"}`: "/notifications/resourceSubscriptions", `"notifications":{"resourceSubscriptions":[5]}`: "/notifications/resourceSubscriptions/0",
		`"notifications":{"taskIds":[null]}`: "/notifications/taskIds/0",
	}, statelessRevisions},
}

// Malformed params are -32602 in every revision and whatever the method, with a list of what is wrong and where, and the connection goes on.
// https://modelcontextprotocol.io/specification/2025-11-25/basic#responses and https://www.jsonrpc.org/specification#error_object leave data to
// the server; https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta says what every request carries.
func TestLET05MalformedParamsAreListed(t *testing.T) {
	for _, name := range revision.Names() {
		c := dial(t, lavish(), name)
		for _, ask := range everyRequest {
			if !ask.in(name) {
				continue
			}
			own := c.meta("")
			for member, at := range ask.wrong {
				c.malformed(ask.method, members(member, own), at)
			}
			for meta, at := range map[string]string{`"_meta":5`: "/_meta", `"_meta":[]`: "/_meta", `"_meta":"x"`: "/_meta", `"_meta":null`: "/_meta"} {
				c.malformed(ask.method, members(ask.params, meta), at)
			}
			for token, at := range map[string]string{`{}`: "/_meta/progressToken", `1.5`: "/_meta/progressToken", `null`: "/_meta/progressToken", `true`: "/_meta/progressToken", `[1]`: "/_meta/progressToken"} {
				c.malformed(ask.method, members(ask.params, c.meta(`"progressToken":`+token)), at)
			}
			for _, params := range []string{`[]`, `5`, `"x"`, `null`, `[{}]`} {
				c.refused(ask.method, params, "(root)")
			}
		}
		if answer := c.ask("tools/list", ""); !strings.Contains(answer, `"tools":[`) {
			t.Errorf("%s: afterwards: %s", name, answer)
		}
	}
}

// What opens a session, and what stands in its place since.
func TestLET05AMalformedClientIsRefused(t *testing.T) {
	for _, name := range revision.Names() {
		for key, wrong := range map[string][]string{
			"clientInfo": {`5`, `null`, `[]`, `"c"`, `{"name":5,"version":"1"}`, `{"name":"c","version":1}`}, "capabilities": {`5`, `null`, `[]`, `"all"`},
		} {
			for _, value := range wrong {
				c := dial(t, lavish(), name)
				if !c.stateless() {
					c = connect(t, lavish(), name)
					rest := map[string]string{"clientInfo": `"capabilities":{}`, "capabilities": `"clientInfo":{"name":"c","version":"1"}`}[key]
					c.malformed("initialize", fmt.Sprintf(`"protocolVersion":%q,%s,%q:%s`, name, rest, key, value), "/"+key)
					c.malformed("initialize", fmt.Sprintf(`"protocolVersion":%q,%s`, name, rest), "/"+key)
					c.begin()
					continue
				}
				member := "io.modelcontextprotocol/" + map[string]string{"clientInfo": "clientInfo", "capabilities": "clientCapabilities"}[key]
				rest := map[string]string{"clientInfo": `"io.modelcontextprotocol/clientCapabilities":{},`}[key]
				meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,%s%q:%s}`, name, rest, member, value)
				c.malformed("tools/list", meta, "/_meta/"+strings.ReplaceAll(member, "/", "~1"))
			}
		}
	}
}

func members(list ...string) string {
	var all []string
	for _, m := range list {
		if m != "" {
			all = append(all, m)
		}
	}
	return strings.Join(all, ",")
}

// meta is what every request of the revision carries, with one more member.
func (c *client) meta(more string) string {
	if !c.stateless() {
		return `"_meta":{` + more + `}`
	}
	return `"_meta":{` + members(`"io.modelcontextprotocol/protocolVersion":"`+c.revision+`","io.modelcontextprotocol/clientCapabilities":`+capabilities, more) + `}`
}

func (c *client) malformed(method, params, at string) {
	c.t.Helper()
	c.refused(method, "{"+params+"}", at)
}

// refused sends params that are malformed at a place.
func (c *client) refused(method, params, at string) {
	c.t.Helper()
	c.write(`{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":` + params + `}`)
	var answer struct {
		ID    int
		Error struct {
			Code    int
			Message string
			Data    struct{ Violations []string }
		}
	}
	text := c.answer()
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.ID != 7 || answer.Error.Code != -32602 || answer.Error.Message == "" {
		c.t.Errorf("%s %s %s: %s", c.revision, method, params, text)
		return
	}
	for _, v := range answer.Error.Data.Violations {
		if strings.HasPrefix(v, at+":") || strings.HasPrefix(v, at+"/") {
			return
		}
	}
	c.t.Errorf("%s %s %s: no violation at %s: %s", c.revision, method, params, at, text)
}
