package streamhttp

// Wires of both revisions, written by hand as generated code has them, as far as these tests go.

import (
	"encoding/json"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

func wire2025() *server.Wire {
	return &server.Wire{
		Revision:  "2025-11-25",
		Handshake: true,
		Methods: []server.Method{
			{Name: "initialize", Op: server.OpInitialize, Uncancellable: true, Read: readInitialize},
			{Name: "notifications/cancelled", Op: server.OpCancelled, Notification: true, Read: readCancelled},
			{Name: "notifications/initialized", Op: server.OpInitialized, Notification: true},
			{Name: "ping", Op: server.OpPing},
			{Name: "tools/call", Op: server.OpCallTool, Read: readCallTool},
			{Name: "tools/list", Op: server.OpListTools, Read: readRequest},
		},
		Outgoing: []server.Outgoing{
			{Op: server.OpElicit, Name: "elicitation/create", Capability: "elicitation"},
			{Op: server.OpCancelled, Name: "notifications/cancelled"},
			{Op: server.OpProgress, Name: "notifications/progress"},
			{Op: server.OpToolsChanged, Name: "notifications/tools/list_changed"},
		},
		Capabilities: server.Capabilities{
			Tools: "tools", ToolsChanged: "tools/listChanged",
		},
		HTTP: server.HTTP{VersionHeader: "MCP-Protocol-Version", SessionHeader: "Mcp-Session-Id", LastEventHeader: "Last-Event-ID"},

		ReadElicitResult:       readElicitResult,
		AppendInitializeResult: appendInitializeResult,
		AppendToolList:         appendToolList("{"),
		AppendCallResult:       appendCallResult("{"),
		AppendProgress:         appendProgress,
		AppendCancelled:        appendCancelled,
		AppendElicit:           appendElicit,
	}
}

func wire2026() *server.Wire {
	const complete = `{"resultType":"complete"`
	return &server.Wire{
		Revision: "2026-07-28",
		Methods: []server.Method{
			{Name: "notifications/cancelled", Op: server.OpCancelled, Notification: true, Read: readCancelled},
			{Name: "server/discover", Op: server.OpDiscover, Read: readRequest},
			{Name: "subscriptions/listen", Op: server.OpListen, Read: readListen},
			{Name: "tools/call", Op: server.OpCallTool, Header: "name", Read: readCallTool},
			{Name: "tools/list", Op: server.OpListTools, Cacheable: true, Read: readRequest},
		},
		Outgoing: []server.Outgoing{
			{Op: server.OpElicit, Name: "elicitation/create", Capability: "elicitation"},
			{Op: server.OpCancelled, Name: "notifications/cancelled"},
			{Op: server.OpProgress, Name: "notifications/progress"},
			{Op: server.OpAcknowledged, Name: "notifications/subscriptions/acknowledged"},
			{Op: server.OpToolsChanged, Name: "notifications/tools/list_changed"},
		},
		Capabilities: server.Capabilities{
			Tools: "tools", ToolsChanged: "tools/listChanged",
		},
		Codes:  server.Codes{ResourceNotFound: -32602, MissingMeta: -32602, HeaderMismatch: -32020, MissingCapability: -32021, UnsupportedVersion: -32022},
		Meta:   server.Meta{ProtocolVersion: "io.modelcontextprotocol/protocolVersion", ServerInfo: "io.modelcontextprotocol/serverInfo"},
		Result: server.ResultRules{Type: "resultType", Complete: "complete", InputRequired: "input_required", Task: "task", CacheTTL: "ttlMs", CacheScope: "cacheScope"},
		HTTP: server.HTTP{
			VersionHeader: "MCP-Protocol-Version", MethodHeader: "Mcp-Method", NameHeader: "Mcp-Name", ParamPrefix: "Mcp-Param-",
			EncodedPrefix: "=?base64?", EncodedSuffix: "?=", DisconnectCancels: true,
			Statuses: server.Statuses{MethodNotFound: 404, MissingMeta: 400, HeaderMismatch: 400, MissingCapability: 400, UnsupportedVersion: 400},
		},
		ReadRequest:      readRequest,
		ReadElicitResult: readElicitResult,
		AppendDiscoverResult: func(b []byte, r *server.DiscoverResult) []byte {
			b = append(append(b, complete...), `,"supportedVersions":`...)
			b = append(appendStrings(b, r.SupportedVersions), `,"capabilities":`...)
			return append(append(b, r.Capabilities...), '}')
		},
		AppendToolList:   appendToolList(complete),
		AppendCallResult: appendCallResult(complete),
		AppendInputRequired: func(b []byte, r *server.InputRequired) []byte {
			b = append(append(b, `{"resultType":"input_required","inputRequests":`...), r.InputRequests...)
			return append(check.AppendString(append(b, `,"requestState":`...), r.RequestState), '}')
		},
		AppendListenResult: func(b []byte, r *server.ListenResult) []byte {
			return append(append(b, complete...), '}')
		},
		AppendProgress:  appendProgress,
		AppendCancelled: appendCancelled,
		AppendElicit:    appendElicit,
		AppendAcknowledged: func(b []byte, a *server.Acknowledged) []byte {
			b = append(b, `{"notifications":{"toolsListChanged":`...)
			b = check.AppendBool(b, a.ToolsChanged)
			b = append(b, `},"_meta":{"io.modelcontextprotocol/subscriptionId":`...)
			return append(a.SubscriptionID.AppendJSON(b), "}}"...)
		},
		AppendChanged: func(b []byte, c *server.Changed) []byte {
			b = append(b, `{"_meta":{"io.modelcontextprotocol/subscriptionId":`...)
			return append(c.SubscriptionID.AppendJSON(b), "}}"...)
		},
		AppendMissingCapability: func(b []byte, m *server.MissingCapability) []byte {
			return append(append(append(b, `{"requiredCapabilities":`...), m.RequiredCapabilities...), '}')
		},
		AppendUnsupportedVersion: func(b []byte, u *server.UnsupportedVersion) []byte {
			b = appendStrings(append(b, `{"supported":`...), u.Supported)
			return append(check.AppendString(append(b, `,"requested":`...), u.Requested), '}')
		},
	}
}

var (
	initializeParams = check.Object{Names: []string{"protocolVersion", "capabilities", "clientInfo"}, Required: []string{"protocolVersion", "capabilities", "clientInfo"}, AdditionalProperties: check.Skip}
	cancelledParams  = check.Object{Names: []string{"requestId", "reason"}, AdditionalProperties: check.Skip}
	requestParams    = check.Object{Names: []string{"_meta", "cursor"}, AdditionalProperties: check.Skip}
	listenParams     = check.Object{Names: []string{"_meta", "notifications"}, AdditionalProperties: check.Skip}
	listenFilter     = check.Object{Names: []string{"toolsListChanged"}, AdditionalProperties: check.Skip}
	callToolParams   = check.Object{Names: []string{"_meta", "name", "arguments", "inputResponses", "requestState"}, Required: []string{"name"}, AdditionalProperties: check.Skip}
	metaParams       = check.Object{Names: []string{
		"progressToken", "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities", "io.modelcontextprotocol/clientInfo",
	}, AdditionalProperties: check.Skip}
	elicitResult = check.Object{Names: []string{"action", "content"}, Required: []string{"action"}, AdditionalProperties: check.Skip}
	elicitAction = check.Enum{Values: []string{"accept", "cancel", "decline"}}
)

func readInitialize(d *check.Decoder, p *server.Params) {
	for f := d.Object(&initializeParams); f >= 0; f = d.Next() {
		switch f {
		case 0:
			p.ProtocolVersion = d.String(nil)
		case 1:
			p.Capabilities = d.Alias(nil)
		case 2:
			p.ClientInfo = d.Alias(nil)
		}
	}
}

func readCancelled(d *check.Decoder, p *server.Params) {
	for f := d.Object(&cancelledParams); f >= 0; f = d.Next() {
		switch f {
		case 0:
			p.RequestID = server.ReadID(d)
		case 1:
			p.Reason = d.String(nil)
		}
	}
}

func readRequest(d *check.Decoder, p *server.Params) {
	for f := d.Object(&requestParams); f >= 0; f = d.Next() {
		switch f {
		case 0:
			readMeta(d, p)
		case 1:
			p.Cursor = d.String(nil)
		}
	}
}

func readMeta(d *check.Decoder, p *server.Params) {
	for f := d.Object(&metaParams); f >= 0; f = d.Next() {
		switch f {
		case 0:
			p.ProgressToken = server.ReadID(d)
		case 1:
			p.ProtocolVersion = d.String(nil)
		case 2:
			p.ClientCapabilities = d.Alias(nil)
		case 3:
			p.ClientInfo = d.Alias(nil)
		}
	}
}

func readListen(d *check.Decoder, p *server.Params) {
	for f := d.Object(&listenParams); f >= 0; f = d.Next() {
		switch f {
		case 0:
			readMeta(d, p)
		case 1:
			for f := d.Object(&listenFilter); f >= 0; f = d.Next() {
				p.ToolsChanged = d.Bool(nil)
			}
		}
	}
}

func readCallTool(d *check.Decoder, p *server.Params) {
	for f := d.Object(&callToolParams); f >= 0; f = d.Next() {
		switch f {
		case 0:
			readMeta(d, p)
		case 1:
			p.Name = d.String(nil)
		case 2:
			p.Arguments = d.Alias(nil)
		case 3:
			p.InputResponses = d.Alias(nil)
		case 4:
			p.RequestState, p.HasState = d.String(nil), true
		}
	}
}

func readElicitResult(d *check.Decoder, r *server.ElicitResult) {
	for f := d.Object(&elicitResult); f >= 0; f = d.Next() {
		switch f {
		case 0:
			r.Action = d.Enum(&elicitAction)
		case 1:
			r.Content = d.Alias(nil)
		}
	}
}

func appendInitializeResult(b []byte, r *server.InitializeResult) []byte {
	b = check.AppendString(append(b, `{"protocolVersion":`...), r.ProtocolVersion)
	b = append(append(b, `,"capabilities":`...), r.Capabilities...)
	return append(append(append(b, `,"serverInfo":`...), r.ServerInfo...), '}')
}

func appendToolList(head string) func(b []byte, l *server.ToolList) []byte {
	return func(b []byte, l *server.ToolList) []byte {
		return append(append(check.Member(append(b, head...), `"tools":`), l.Tools...), '}')
	}
}

func appendCallResult(head string) func(b []byte, r *server.CallResult) []byte {
	return func(b []byte, r *server.CallResult) []byte {
		b = append(check.Member(append(b, head...), `"content":`), r.Content...)
		if r.StructuredContent != nil {
			b = append(check.Member(b, `"structuredContent":`), r.StructuredContent...)
		}
		if r.IsError {
			b = append(check.Member(b, `"isError":`), "true"...)
		}
		return append(b, '}')
	}
}

func appendProgress(b []byte, p *server.Progress) []byte {
	b = p.ProgressToken.AppendJSON(append(b, `{"progressToken":`...))
	return append(check.AppendFloat(append(b, `,"progress":`...), p.Progress), '}')
}

func appendCancelled(b []byte, c *server.Cancelled) []byte {
	return append(c.RequestID.AppendJSON(append(b, `{"requestId":`...)), '}')
}

func appendElicit(b []byte, e *server.Elicit) []byte {
	b = check.AppendString(append(b, `{"mode":"form","message":`...), e.Message)
	return append(append(append(b, `,"requestedSchema":`...), e.RequestedSchema...), '}')
}

func appendStrings(b []byte, list []string) []byte {
	text, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return append(b, text...)
}
