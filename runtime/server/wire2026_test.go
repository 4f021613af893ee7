package server

// The wire of 2026-07-28, written by hand: it behaves as generated code does, in fewer words.

import (
	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func wire20260728() *Wire {
	asking := read20260728("name")
	return &Wire{
		Revision: "2026-07-28",
		Methods: []Method{
			{Name: "completion/complete", Op: OpMethod, Declares: "completions", NoInput: true, Read: read20260728()},
			{Name: "notifications/cancelled", Op: OpCancelled, Notification: true, Read: readCancelled20251125},
			{Name: "prompts/get", Op: OpMethod, Declares: "prompts", Header: "name", Read: asking},
			{Name: "prompts/list", Op: OpMethod, Declares: "prompts", Cacheable: true, Read: read20260728()},
			{Name: "resources/read", Op: OpMethod, Declares: "resources", Cacheable: true, Header: "uri", Read: read20260728("uri")},
			{Name: "server/discover", Op: OpDiscover, Cacheable: true, Read: read20260728()},
			{Name: "subscriptions/listen", Op: OpListen, Read: read20260728("notifications")},
			{Name: "tasks/cancel", Op: OpCancelTask, Header: "taskId", Read: read20260728("taskId")},
			{Name: "tasks/get", Op: OpGetTask, Header: "taskId", Read: read20260728("taskId")},
			{Name: "tasks/update", Op: OpUpdateTask, Header: "taskId", Read: read20260728("taskId", "inputResponses")},
			{Name: "tools/call", Op: OpCallTool, Task: true, Header: "name", Read: asking},
			{Name: "tools/list", Op: OpListTools, Cacheable: true, Read: read20260728()},
		},
		Outgoing: []Outgoing{
			elicitation, createMessage, listRoots,
			{Op: OpCancelled, Name: "notifications/cancelled"}, {Op: OpProgress, Name: "notifications/progress"}, {Op: OpLog, Name: "notifications/message"},
			{Op: OpAcknowledged, Name: "notifications/subscriptions/acknowledged"}, {Op: OpTaskStatus, Name: "notifications/tasks"},
			{Op: OpToolsChanged, Name: "notifications/tools/list_changed"}, {Op: OpResourceUpdated, Name: "notifications/resources/updated"},
		},
		Task: TaskRules{Edges: []TaskEdge{{task.Working, task.Completed}}, ByReceiver: true, QuestionsInline: true},
		Capabilities: Capabilities{
			Tools: "tools", ToolsChanged: "tools/listChanged", ResourceUpdated: "resources/subscribe", Logging: "logging",
			Tasks:       "extensions/io.modelcontextprotocol~1tasks",
			ClientTasks: "extensions/io.modelcontextprotocol~1tasks",
		},
		Codes: Codes{ResourceNotFound: -32602, MissingMeta: -32602, HeaderMismatch: -32020, MissingCapability: -32021, UnsupportedVersion: -32022},
		Meta:  Meta{ProtocolVersion: "io.modelcontextprotocol/protocolVersion", ServerInfo: "io.modelcontextprotocol/serverInfo"},
		Result: ResultRules{
			Type: "resultType", Complete: "complete", InputRequired: "input_required", Task: "task", CacheTTL: "ttlMs", CacheScope: "cacheScope",
		},
		HTTP: HTTP{
			NameHeader: "Mcp-Name", DisconnectCancels: true,
			Statuses: Statuses{MethodNotFound: 404, MissingMeta: 400, HeaderMismatch: 400, MissingCapability: 400, UnsupportedVersion: 400},
		},
		ReadRequest: read20260728(), ReadElicitResult: readElicitResult20251125, ReadCallResult: readCallResult20251125,
		AppendDiscoverResult: func(b []byte, r *DiscoverResult) []byte {
			o := begin(b, "complete").strings("supportedVersions", r.SupportedVersions).raw("capabilities", r.Capabilities)
			return o.text("instructions", r.Instructions).cache(r.CacheTTL, r.CacheScope).info(r.ServerInfo)
		},
		AppendToolList: func(b []byte, l *ToolList) []byte {
			return begin(b, "complete").raw("tools", l.Tools).text("nextCursor", l.NextCursor).cache(l.CacheTTL, l.CacheScope).info(l.ServerInfo)
		},
		AppendCallResult: func(b []byte, r *CallResult) []byte {
			o := begin(b, "complete").raw("content", r.Content).raw("structuredContent", r.StructuredContent)
			if r.IsError {
				o = o.raw("isError", []byte("true"))
			}
			meta := append([]byte(`{"io.modelcontextprotocol/serverInfo":`), r.ServerInfo...)
			return o.raw("_meta", AppendMembers(meta, r.Meta), '}').close()
		},
		AppendInputRequired: func(b []byte, r *InputRequired) []byte {
			return begin(b, "input_required").raw("inputRequests", r.InputRequests).text("requestState", r.RequestState).info(r.ServerInfo)
		},
		AppendListenResult: func(b []byte, r *ListenResult) []byte {
			return begin(b, "complete").raw("_meta", r.SubscriptionID.AppendJSON([]byte(`{"io.modelcontextprotocol/subscriptionId":`)), '}').close()
		},
		AppendTaskCreated:   func(b []byte, t *TaskView) []byte { return begin(b, "task").task(t).info(t.ServerInfo) },
		AppendTaskDetail:    func(b []byte, t *TaskView) []byte { return begin(b, "complete").detail(t).info(t.ServerInfo) },
		AppendTaskCancelled: func(b []byte, t *TaskView) []byte { return begin(b, "complete").info(t.ServerInfo) },
		AppendTaskUpdated:   func(b []byte, t *TaskView) []byte { return begin(b, "complete").info(t.ServerInfo) },
		AppendTaskStatus: func(b []byte, t *TaskView) []byte {
			return object(append(b, '{')).detail(t).raw("_meta", subscription(t.SubscriptionID), '}').close()
		},
		AppendProgress:  appendProgress20251125,
		AppendCancelled: appendCancelled20251125,
		AppendAcknowledged: func(b []byte, a *Acknowledged) []byte {
			o := object(append(b, `{"notifications":{`...))
			if a.ToolsChanged {
				o = o.raw("toolsListChanged", []byte("true"))
			}
			o = o.strings("resourceSubscriptions", a.ResourceURIs).strings("taskIds", a.TaskIDs)
			return object(append(o, '}')).raw("_meta", subscription(a.SubscriptionID), '}').close()
		},
		AppendChanged: func(b []byte, c *Changed) []byte {
			return object(append(b, '{')).raw("_meta", subscription(c.SubscriptionID), '}').close()
		},
		AppendResourceUpdated: func(b []byte, u *ResourceUpdated) []byte {
			return object(append(b, '{')).text("uri", u.URI).raw("_meta", subscription(u.SubscriptionID), '}').close()
		},
		AppendLog:    appendLog,
		AppendElicit: appendElicit20251125,
		AppendMissingCapability: func(b []byte, m *MissingCapability) []byte {
			return object(append(b, '{')).raw("requiredCapabilities", m.RequiredCapabilities).close()
		},
		AppendUnsupportedVersion: func(b []byte, u *UnsupportedVersion) []byte {
			return object(append(b, '{')).strings("supported", u.Supported).text("requested", u.Requested).close()
		},
	}
}

// fullWire20251125 is the wire of 2025-11-25 with what a server that sends more than answers has.
func fullWire20251125() *Wire {
	w := wire20251125()
	w.Methods = append(w.Methods,
		Method{Name: "logging/setLevel", Op: OpSetLevel, Read: readLevel},
		Method{Name: "prompts/get", Op: OpMethod, Declares: "prompts"},
		Method{Name: "prompts/list", Op: OpMethod, Declares: "prompts"},
		Method{Name: "resources/read", Op: OpMethod, Declares: "resources"},
		Method{Name: "resources/subscribe", Op: OpSubscribe, Declares: "resources/subscribe", Read: readURI},
		Method{Name: "resources/unsubscribe", Op: OpUnsubscribe, Declares: "resources/subscribe", Read: readURI})
	w.Outgoing = append(w.Outgoing, Outgoing{Op: OpLog, Name: "notifications/message"},
		Outgoing{Op: OpToolsChanged, Name: "notifications/tools/list_changed"},
		Outgoing{Op: OpResourceUpdated, Name: "notifications/resources/updated"}, createMessage, listRoots)
	c := &w.Capabilities
	c.ToolsChanged, c.ResourceUpdated, c.Logging = "tools/listChanged", "resources/subscribe", "logging"
	w.Codes = Codes{ResourceNotFound: -32002, URLElicitationRequired: -32042}
	w.Meta.RelatedTask = "io.modelcontextprotocol/related-task"
	w.AppendLog = appendLog
	w.AppendResourceUpdated = func(b []byte, u *ResourceUpdated) []byte { return object(append(b, '{')).text("uri", u.URI).close() }
	return w
}

func appendLog(b []byte, l *LogMessage) []byte {
	return object(append(b, '{')).text("level", l.Level).text("logger", l.Logger).raw("data", l.Data).close()
}

var (
	level20251125 = check.Object{Names: []string{"level"}, Required: []string{"level"}, AdditionalProperties: check.Skip}
	uri20251125   = check.Object{Names: []string{"uri"}, Required: []string{"uri"}, AdditionalProperties: check.Skip}
	list20260728  = check.Array{}
	names20260728 = []string{"_meta", "name", "uri", "arguments", "inputResponses", "requestState", "cursor", "taskId", "notifications"}
	meta20260728  = check.Object{Names: []string{
		"io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities", "io.modelcontextprotocol/logLevel", "progressToken",
	}, Required: []string{"io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"}, AdditionalProperties: check.Skip}
	filter20260728 = check.Object{Names: []string{"toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions", "taskIds"}, AdditionalProperties: check.Skip}
)

func readLevel(d *check.Decoder, p *Params) {
	for f := d.Object(&level20251125); f >= 0; f = d.Next() {
		p.Level = d.String(nil)
	}
}

func readURI(d *check.Decoder, p *Params) {
	for f := d.Object(&uri20251125); f >= 0; f = d.Next() {
		p.URI = d.String(nil)
	}
}

func read20260728(required ...string) func(d *check.Decoder, p *Params) {
	rule := &check.Object{Names: names20260728, Required: append([]string{"_meta"}, required...), AdditionalProperties: check.Skip}
	return func(d *check.Decoder, p *Params) {
		for f := d.Object(rule); f >= 0; f = d.Next() {
			switch f {
			case 0:
				readMeta20260728(d, p)
			case 1:
				p.Name = d.String(nil)
			case 2:
				p.URI = d.String(nil)
			case 3:
				p.Arguments = d.Alias(nil)
			case 4:
				p.InputResponses = d.Alias(nil)
			case 5:
				p.RequestState, p.HasState = d.String(nil), true
			case 6:
				p.Cursor = d.String(nil)
			case 7:
				p.TaskID = d.String(nil)
			case 8:
				readFilter20260728(d, p)
			}
		}
	}
}

func readMeta20260728(d *check.Decoder, p *Params) {
	for f := d.Object(&meta20260728); f >= 0; f = d.Next() {
		switch f {
		case 0:
			p.ProtocolVersion = d.String(nil)
		case 1:
			p.ClientCapabilities = d.Alias(nil)
		case 2:
			p.LogLevel = d.String(nil)
		case 3:
			p.ProgressToken = ReadID(d)
		}
	}
}

func readFilter20260728(d *check.Decoder, p *Params) {
	for f := d.Object(&filter20260728); f >= 0; f = d.Next() {
		switch f {
		case 0:
			p.ToolsChanged = d.Bool(nil)
		case 1:
			p.PromptsChanged = d.Bool(nil)
		case 2:
			p.ResourcesChanged = d.Bool(nil)
		case 3:
			p.ResourceURIs = d.Strings(&list20260728, nil)
		case 4:
			p.TaskIDs = d.Strings(&list20260728, nil)
		}
	}
}

// object is an object that is being written; members that are empty are left out.
type object []byte

func begin(b []byte, resultType string) object {
	return object(check.AppendString(append(b, `{"resultType":`...), resultType))
}

func subscription(id interface{ AppendJSON(b []byte) []byte }) []byte {
	return id.AppendJSON([]byte(`{"io.modelcontextprotocol/subscriptionId":`))
}

func (o object) name(s string) []byte { return check.Member(o, string(check.AppendString(nil, s))+":") }

func (o object) raw(name string, value []byte, end ...byte) object {
	if len(value) == 0 {
		return o
	}
	return append(append(o.name(name), value...), end...)
}

func (o object) text(name, value string) object {
	if value == "" {
		return o
	}
	return check.AppendString(o.name(name), value)
}

func (o object) strings(name string, values []string) object {
	if values == nil {
		return o
	}
	b := append(o.name(name), '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = check.AppendString(b, v)
	}
	return append(b, ']')
}

func (o object) cache(ttl Millis, scope string) object {
	return object(ttl.AppendJSON(o.name("ttlMs"))).text("cacheScope", scope)
}

func (o object) info(info []byte) []byte {
	if info != nil {
		o = o.raw("_meta", append([]byte(`{"io.modelcontextprotocol/serverInfo":`), info...), '}')
	}
	return o.close()
}

func (o object) task(t *TaskView) object {
	o = o.text("taskId", t.ID).text("status", t.Status).text("statusMessage", t.StatusMessage)
	o = t.CreatedAt.AppendJSON(o.name("createdAt"))
	o = t.LastUpdatedAt.AppendJSON(o.name("lastUpdatedAt"))
	return t.TTL.AppendJSON(o.name("ttlMs"))
}

func (o object) detail(t *TaskView) object {
	return o.task(t).raw("result", t.Result).raw("error", t.Error).raw("inputRequests", t.InputRequests)
}

func (o object) close() []byte { return append(o, '}') }
