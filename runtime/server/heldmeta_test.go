package server

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// wantViolation holds the data of an error against what it begins a violation with; "" is for an answer that is no error.
func (m message) wantViolation(t *testing.T, text string) {
	t.Helper()
	var all []string
	_ = json.Unmarshal([]byte(m.field("error", "data", "violations")), &all)
	if text == "" && m.Error != nil || text != "" && !slices.ContainsFunc(all, func(v string) bool { return strings.HasPrefix(v, text) }) {
		t.Errorf("no violation %q in %s", text, m.raw)
	}
}

// TestLET21EachMemberOfMetaIsHeldAgainstItsDefinition: what a request of a stateless revision says of its client and wants, with what must be
// there and what may be absent.
func TestLET21EachMemberOfMetaIsHeldAgainstItsDefinition(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	const ns = "io.modelcontextprotocol/"
	levels := []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
	for _, row := range []struct{ name, value, at string }{
		{ns + "logLevel", `""`, ": enum: "}, {ns + "logLevel", `"loud"`, ": enum: "}, {ns + "logLevel", `"INFO"`, ": enum: "},
		{ns + "logLevel", `null`, ": enum: "}, {ns + "logLevel", `5`, ": enum: "}, {ns + "logLevel", `{}`, ": enum: "},
		{ns + "clientInfo", `{}`, "/name: is required"}, {ns + "clientInfo", `{}`, "/version: is required"}, {ns + "clientInfo", `{"name":"c"}`, "/version: is required"},
		{ns + "clientInfo", `{"version":"1"}`, "/name: is required"}, {ns + "clientInfo", `{"name":5,"version":"1"}`, "/name: type: "},
		{ns + "clientInfo", `{"name":"c","version":1}`, "/version: type: "}, {ns + "clientInfo", `{"name":"c","version":"1","title":null}`, "/title: type: "},
		{ns + "clientInfo", `{"name":"c","version":"1","websiteUrl":5}`, "/websiteUrl: type: "}, {ns + "clientInfo", `{"name":"c","version":"1","description":[]}`, "/description: type: "},
		{ns + "clientInfo", `{"name":"c","version":"1","icons":{}}`, "/icons: type: "}, {ns + "clientInfo", `{"name":"c","version":"1","icons":[{}]}`, "/icons/0/src: is required"},
		{ns + "clientInfo", `{"name":"c","version":"1","icons":[{"src":"https://example.com/i","theme":"pink"}]}`, "/icons/0/theme: enum: "},
		{ns + "clientInfo", `"c"`, ": type: "}, {ns + "clientInfo", `null`, ": type: "},
		{"progressToken", `1.5`, ": type: "}, {"progressToken", `null`, ": type: "}, {"progressToken", `{}`, ": type: "}, {"progressToken", `true`, ": type: "},
		{"progressToken", `"` + strings.Repeat("t", rpc.MaxIDBytes) + `"`, ": not: "}, {"progressToken", `"` + strings.Repeat("é", rpc.MaxIDBytes/2) + `"`, ": not: "},
	} {
		for method, params := range map[string]string{"tools/call": callParams("echo", `{"text":"x","count":1}`), "tools/list": "", "server/discover": ""} {
			m := f.ask(t.Context(), frameWith(1, method, nothing, params, `"`+row.name+`":`+row.value))
			m.wantError(t, -32602)
			m.wantViolation(t, "/_meta/"+strings.ReplaceAll(row.name, "/", "~1")+row.at)
		}
	}
	for _, fine := range []string{
		`"` + ns + `clientInfo":{"name":"","version":"","title":"c","description":"d","websiteUrl":"https://example.com","icons":[{"src":"data:,","sizes":["any"],"theme":"dark","mimeType":"image/png"}],"more":5}`,
		`"progressToken":"a"`, `"progressToken":"` + strings.Repeat("t", rpc.MaxIDBytes-2) + `"`, `"progressToken":7`, `"traceparent":5`, `"` + ns + `later":"x"`,
	} {
		if m := f.ask(t.Context(), frameWith(1, "tools/list", nothing, "", fine)); m.Error != nil {
			t.Errorf("%s: %s", fine, m.raw)
		}
	}
	for _, level := range levels {
		if m := f.ask(t.Context(), frameWith(1, "tools/list", nothing, "", `"`+ns+`logLevel":"`+level+`"`)); m.Error != nil {
			t.Errorf("%s: %s", level, m.raw)
		}
	}
	for _, caps := range []string{`5`, `[]`, `null`, `"all"`, `true`} {
		m := f.ask(t.Context(), frame(1, "tools/list", caps, ""))
		m.wantError(t, -32602)
		m.wantViolation(t, "/_meta/io.modelcontextprotocol~1clientCapabilities: type: ")
	}
	for _, version := range []string{`5`, `null`, `{}`} {
		m := f.ask(t.Context(), strings.Replace(frame(1, "tools/list", nothing, ""), `"2026-07-28"`, version, 1))
		m.wantError(t, -32602)
		m.wantViolation(t, "/_meta/io.modelcontextprotocol~1protocolVersion: type: ")
	}
}

// TestLET21TheHandshakeIsHeldAgainstItsDefinition, as the requests of a stateless revision are.
func TestLET21TheHandshakeIsHeldAgainstItsDefinition(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	c := f.dial(t.Context())
	for _, row := range []struct{ params, at string }{
		{`"capabilities":{},"clientInfo":{"name":"c"}`, "/clientInfo/version: is required"}, {`"capabilities":{},"clientInfo":{"version":"1"}`, "/clientInfo/name: is required"},
		{`"capabilities":{},"clientInfo":{"name":"c","version":1}`, "/clientInfo/version: type: "}, {`"capabilities":{},"clientInfo":{"name":"c","version":"1","icons":[5]}`, "/clientInfo/icons/0: type: "},
		{`"capabilities":{},"clientInfo":[]`, "/clientInfo: type: "}, {`"capabilities":{}`, "/clientInfo: is required"},
		{`"capabilities":[],"clientInfo":{"name":"c","version":"1"}`, "/capabilities: type: "}, {`"clientInfo":{"name":"c","version":"1"}`, "/capabilities: is required"},
		{`"capabilities":null,"clientInfo":{"name":"c","version":"1"}`, "/capabilities: type: "},
	} {
		m := c.request("1", "initialize", `{"protocolVersion":"2025-11-25",`+row.params+`}`)
		m.wantError(t, -32602)
		m.wantViolation(t, row.at)
	}
	// What is declared as something else than an object is not declared (TestLET21ACapabilityIsAnObject), and nothing is wrong.
	for _, caps := range []string{
		`{"roots":{"listChanged":null},"experimental":null,"tasks":{"requests":{"sampling":null}},"unknown":5}`,
		`{"roots":{"listChanged":"yes"},"experimental":{"x":true},"tasks":{"requests":{"sampling":{"createMessage":1}}}}`,
	} {
		c := f.dial(t.Context())
		c.initialize(caps).wantViolation(t, "")
	}
}
