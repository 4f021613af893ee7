package server

// The wire of 2025-11-25, written by hand as generated code has it.

import (
	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func wire20251125() *Wire {
	return &Wire{
		Revision:  "2025-11-25",
		Handshake: true,
		Methods: []Method{
			{Name: "initialize", Op: OpInitialize, Uncancellable: true, Read: readInitialize20251125},
			{Name: "notifications/cancelled", Op: OpCancelled, Notification: true, Read: readCancelled20251125},
			{Name: "notifications/initialized", Op: OpInitialized, Notification: true},
			{Name: "notifications/roots/list_changed", Op: OpRootsChanged, Notification: true},
			{Name: "notifications/progress", Op: OpProgress, Notification: true},
			{Name: "ping", Op: OpPing},
			{Name: "tasks/cancel", Op: OpCancelTask, Read: readTask20251125},
			{Name: "tasks/get", Op: OpGetTask, Read: readTask20251125},
			{Name: "tasks/list", Op: OpListTasks, Read: readList20251125},
			{Name: "tasks/result", Op: OpTaskResult, Read: readTask20251125},
			{Name: "tools/call", Op: OpCallTool, Task: true, Read: readCallTool20251125},
			{Name: "tools/list", Op: OpListTools, Read: readList20251125},
		},
		Outgoing: []Outgoing{
			elicitation,
			{Op: OpCancelled, Name: "notifications/cancelled"},
			{Op: OpProgress, Name: "notifications/progress"},
			{Op: OpTaskStatus, Name: "notifications/tasks/status"},
		},
		Task: TaskRules{
			Edges: []TaskEdge{
				{task.Working, task.InputRequired}, {task.Working, task.Completed}, {task.Working, task.Failed}, {task.Working, task.Cancelled},
				{task.InputRequired, task.Working}, {task.InputRequired, task.Completed}, {task.InputRequired, task.Failed}, {task.InputRequired, task.Cancelled},
			},
			ByParam: true, IsErrorFails: true, CancelForces: true, CancelTerminalRefused: true, Progress: true,
		},
		Capabilities: Capabilities{
			Tools: "tools", TaskList: "tasks/list", TaskCancel: "tasks/cancel", TaskCall: "tasks/requests/tools/call",
		},
		ReadElicitResult:       readElicitResult20251125,
		ReadTaskParams:         readCallToolTask20251125,
		ReadCallResult:         readCallResult20251125,
		AppendInitializeResult: appendInitializeResult20251125,
		AppendToolList:         appendToolList20251125,
		AppendCallResult:       appendCallResult20251125,
		AppendTaskCreated:      appendTaskCreated20251125,
		AppendTask:             appendTask20251125,
		AppendTaskList:         appendTaskList20251125,
		AppendTaskStatus:       appendTask20251125,
		AppendProgress:         appendProgress20251125,
		AppendCancelled:        appendCancelled20251125,
		AppendElicit:           appendElicit20251125,
	}
}

// The questions of both revisions.
var (
	elicitation = Outgoing{OpElicit, "elicitation/create", "elicitation", []Need{
		{Capability: "elicitation/url", Member: "mode", Values: []string{"url"}},
		{Capability: "elicitation/form", Member: "mode", Values: []string{"form"}, Default: true},
	}}
	createMessage = Outgoing{OpCreateMessage, "sampling/createMessage", "sampling", []Need{
		{Capability: "sampling/tools", Member: "tools"}, {Capability: "sampling/tools", Member: "toolChoice"},
		{Capability: "sampling/context", Member: "includeContext", Values: []string{"thisServer", "allServers"}},
	}}
	listRoots = Outgoing{Op: OpListRoots, Name: "roots/list", Capability: "roots"}
)

var (
	initialize20251125    = check.Object{Names: []string{"protocolVersion", "capabilities", "clientInfo"}, Required: []string{"protocolVersion", "capabilities", "clientInfo"}, AdditionalProperties: check.Skip}
	cancelled20251125     = check.Object{Names: []string{"requestId", "reason"}, AdditionalProperties: check.Skip}
	taskParams20251125    = check.Object{Names: []string{"taskId"}, Required: []string{"taskId"}, AdditionalProperties: check.Skip}
	list20251125          = check.Object{Names: []string{"cursor"}, AdditionalProperties: check.Skip}
	callTool20251125      = check.Object{Names: []string{"name", "arguments", "_meta", "task"}, Required: []string{"name"}, AdditionalProperties: check.Skip}
	callToolMeta20251125  = check.Object{Names: []string{"progressToken"}, AdditionalProperties: check.Skip}
	callToolTask20251125  = check.Object{Names: []string{"ttl"}, AdditionalProperties: check.Skip}
	elicitResult20251125  = check.Object{Names: []string{"action", "content"}, Required: []string{"action"}, AdditionalProperties: check.Skip}
	callResultAll20251125 = check.Object{Names: []string{"content", "structuredContent", "isError", "_meta"}, Required: []string{"content"}, AdditionalProperties: check.Skip}
)

func readInitialize20251125(d *check.Decoder, p *Params) {
	for f := d.Object(&initialize20251125); f >= 0; f = d.Next() {
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

func readCancelled20251125(d *check.Decoder, p *Params) {
	for f := d.Object(&cancelled20251125); f >= 0; f = d.Next() {
		switch f {
		case 0:
			p.RequestID = ReadID(d)
		case 1:
			p.Reason = d.String(nil)
		}
	}
}

func readTask20251125(d *check.Decoder, p *Params) {
	for f := d.Object(&taskParams20251125); f >= 0; f = d.Next() {
		switch f {
		case 0:
			p.TaskID = d.String(nil)
		}
	}
}

func readList20251125(d *check.Decoder, p *Params) {
	for f := d.Object(&list20251125); f >= 0; f = d.Next() {
		switch f {
		case 0:
			p.Cursor = d.String(nil)
		}
	}
}

func readCallTool20251125(d *check.Decoder, p *Params) {
	for f := d.Object(&callTool20251125); f >= 0; f = d.Next() {
		switch f {
		case 0:
			p.Name = d.String(nil)
		case 1:
			p.Arguments = d.Alias(nil)
		case 2:
			readCallToolMeta20251125(d, p)
		case 3:
			p.Task = d.Alias(nil)
		}
	}
}

func readCallToolMeta20251125(d *check.Decoder, p *Params) {
	for f := d.Object(&callToolMeta20251125); f >= 0; f = d.Next() {
		switch f {
		case 0:
			p.ProgressToken = ReadID(d)
		}
	}
}

func readCallToolTask20251125(d *check.Decoder, p *Params) {
	for f := d.Object(&callToolTask20251125); f >= 0; f = d.Next() {
		switch f {
		case 0:
			p.TTL, p.HasTTL = d.Int(nil), true
		}
	}
}

func readElicitResult20251125(d *check.Decoder, r *ElicitResult) {
	for f := d.Object(&elicitResult20251125); f >= 0; f = d.Next() {
		switch f {
		case 0:
			r.Action = d.String(nil) // as generated code has it: the runtime knows which there are
		case 1:
			r.Content = d.Alias(nil)
		}
	}
}

func readCallResult20251125(d *check.Decoder, r *CallResult) {
	for f := d.Object(&callResultAll20251125); f >= 0; f = d.Next() {
		switch f {
		case 0:
			r.Content = d.Alias(nil)
		case 1:
			r.StructuredContent = d.Alias(nil)
		case 2:
			r.IsError = d.Bool(nil)
		case 3:
			r.Meta = d.Alias(nil)
		}
	}
}

func appendInitializeResult20251125(b []byte, r *InitializeResult) []byte {
	b = append(b, '{')
	b = check.AppendString(check.Member(b, `"protocolVersion":`), r.ProtocolVersion)
	b = append(check.Member(b, `"capabilities":`), r.Capabilities...)
	b = append(check.Member(b, `"serverInfo":`), r.ServerInfo...)
	if r.Instructions != "" {
		b = check.AppendString(check.Member(b, `"instructions":`), r.Instructions)
	}
	return append(b, '}')
}

func appendToolList20251125(b []byte, l *ToolList) []byte {
	b = append(b, '{')
	b = append(check.Member(b, `"tools":`), l.Tools...)
	if l.NextCursor != "" {
		b = check.AppendString(check.Member(b, `"nextCursor":`), l.NextCursor)
	}
	return append(b, '}')
}

func appendCallResult20251125(b []byte, r *CallResult) []byte {
	b = append(b, '{')
	b = append(check.Member(b, `"content":`), r.Content...)
	if r.StructuredContent != nil {
		b = append(check.Member(b, `"structuredContent":`), r.StructuredContent...)
	}
	if r.IsError {
		b = append(check.Member(b, `"isError":`), "true"...)
	}
	if r.Meta != nil || r.RelatedTask != "" {
		b = append(check.Member(b, `"_meta":`), '{')
		b = AppendMembers(b, r.Meta)
		b = appendRelated20251125(b, r.RelatedTask)
		b = append(b, '}')
	}
	return append(b, '}')
}

func appendRelated20251125(b []byte, id string) []byte {
	if id == "" {
		return b
	}
	b = append(check.Member(b, `"io.modelcontextprotocol/related-task":`), `{"taskId":`...)
	return append(check.AppendString(b, id), '}')
}

func appendTask20251125(b []byte, t *TaskView) []byte {
	b = append(b, '{')
	b = check.AppendString(check.Member(b, `"taskId":`), t.ID)
	b = check.AppendString(check.Member(b, `"status":`), t.Status)
	if t.StatusMessage != "" {
		b = check.AppendString(check.Member(b, `"statusMessage":`), t.StatusMessage)
	}
	b = t.CreatedAt.AppendJSON(check.Member(b, `"createdAt":`))
	b = t.LastUpdatedAt.AppendJSON(check.Member(b, `"lastUpdatedAt":`))
	b = t.TTL.AppendJSON(check.Member(b, `"ttl":`))
	if t.PollInterval != 0 {
		b = t.PollInterval.AppendJSON(check.Member(b, `"pollInterval":`))
	}
	return append(b, '}')
}

func appendTaskCreated20251125(b []byte, t *TaskView) []byte {
	b = append(b, `{"task":`...)
	b = appendTask20251125(b, t)
	return append(b, '}')
}

func appendTaskList20251125(b []byte, l *TaskList) []byte {
	b = append(b, '{')
	b = append(check.Member(b, `"tasks":`), l.Tasks...)
	if l.NextCursor != "" {
		b = check.AppendString(check.Member(b, `"nextCursor":`), l.NextCursor)
	}
	return append(b, '}')
}

func appendProgress20251125(b []byte, p *Progress) []byte {
	b = append(b, '{')
	b = p.ProgressToken.AppendJSON(check.Member(b, `"progressToken":`))
	b = check.AppendFloat(check.Member(b, `"progress":`), p.Progress)
	if p.Total != 0 {
		b = check.AppendFloat(check.Member(b, `"total":`), p.Total)
	}
	if p.Message != "" {
		b = check.AppendString(check.Member(b, `"message":`), p.Message)
	}
	if p.RelatedTask != "" {
		b = append(check.Member(b, `"_meta":`), '{')
		b = append(appendRelated20251125(b, p.RelatedTask), '}')
	}
	return append(b, '}')
}

func appendCancelled20251125(b []byte, c *Cancelled) []byte {
	b = append(b, '{')
	b = c.RequestID.AppendJSON(check.Member(b, `"requestId":`))
	if c.Reason != "" {
		b = check.AppendString(check.Member(b, `"reason":`), c.Reason)
	}
	if c.RelatedTask != "" {
		b = append(appendRelated20251125(append(check.Member(b, `"_meta":`), '{'), c.RelatedTask), '}')
	}
	return append(b, '}')
}

func appendElicit20251125(b []byte, e *Elicit) []byte {
	b = append(b, `{"mode":"form"`...)
	b = check.AppendString(check.Member(b, `"message":`), e.Message)
	b = append(check.Member(b, `"requestedSchema":`), e.RequestedSchema...)
	if e.RelatedTask != "" {
		b = append(check.Member(b, `"_meta":`), '{')
		b = append(appendRelated20251125(b, e.RelatedTask), '}')
	}
	return append(b, '}')
}
