package lower

import "github.com/mcpkiln/mcpkiln/generator/internal/model"

// The tables below are the runtime's side of a wire: what package server has operations, fields and functions for. A
// revision's rules are the other side; wire joins them. A slot of the rules that has no row here is not read or
// written by this runtime.

// clientOp is an operation on what the client sends. reads is the message of the rules that its params are; empty
// where they say nothing that matters.
type clientOp struct {
	name, reads string
	tasks       bool // served only when a tool runs as a task
}

func clientOps() map[string]clientOp {
	return map[string]clientOp{
		"initialize":   {name: "OpInitialize", reads: "initialize"},
		"initialized":  {name: "OpInitialized"},
		"ping":         {name: "OpPing"},
		"cancelled":    {name: "OpCancelled", reads: "cancelled"},
		"progress":     {name: "OpProgress"},
		"listTools":    {name: "OpListTools", reads: "listTools"},
		"callTool":     {name: "OpCallTool", reads: "callTool"},
		"getTask":      {name: "OpGetTask", reads: "getTask", tasks: true},
		"taskResult":   {name: "OpTaskResult", reads: "taskResult", tasks: true},
		"listTasks":    {name: "OpListTasks", reads: "listTasks", tasks: true},
		"cancelTask":   {name: "OpCancelTask", reads: "cancelTask", tasks: true},
		"taskStatus":   {name: "OpIgnore"}, // status of a task of the client's; this server starts none there
		"rootsChanged": {name: "OpIgnore"},
	}
}

// serverOp is an operation that sends.
type serverOp struct {
	rule, name       string
	tasks, questions bool // sent only when a tool runs as a task, or asks
}

func serverOps() []serverOp {
	return []serverOp{
		{rule: "elicit", name: "OpElicit", questions: true},
		{rule: "progress", name: "OpProgress"},
		{rule: "cancelled", name: "OpCancelled", questions: true},
		{rule: "taskStatus", name: "OpTaskStatus", tasks: true},
	}
}

type capabilityField struct {
	slot, field   string
	client, tasks bool
}

func capabilityFields() []capabilityField {
	return []capabilityField{
		{slot: "tools", field: "Tools"},
		{slot: "taskList", field: "TaskList", tasks: true},
		{slot: "taskCancel", field: "TaskCancel", tasks: true},
		{slot: "taskCall", field: "TaskCall", tasks: true},
		{slot: "elicitation", field: "Elicit", client: true},
		{slot: "elicitationForm", field: "ElicitForm", client: true},
		{slot: "elicitationURL", field: "ElicitURL", client: true},
	}
}

func statusNames() map[string]string {
	return map[string]string{
		"working": "Working", "input_required": "InputRequired", "completed": "Completed", "failed": "Failed", "cancelled": "Cancelled",
	}
}

// wireMessage is one function field of server.Wire and the struct that it reads or appends.
type wireMessage struct {
	rule, field, structName, param string
	read                           bool
	tasks, questions, results      bool // needed only when a tool runs as a task, asks, or has no outputSchema
	slots                          map[string]model.WireSlot
	meta                           string // append: field with raw members for _meta; read: field that takes _meta whole
}

func (m wireMessage) wanted(n model.Needs) bool {
	return (!m.tasks || n.Tasks) && (!m.questions || n.Questions) && (!m.results || n.Results)
}

func taskSlots() map[string]model.WireSlot {
	return map[string]model.WireSlot{
		"id":            {Field: "ID", Kind: model.StringSlot},
		"status":        {Field: "Status", Kind: model.StringSlot},
		"statusMessage": {Field: "StatusMessage", Kind: model.StringSlot},
		"createdAt":     {Field: "CreatedAt", Kind: model.TimeSlot},
		"lastUpdatedAt": {Field: "LastUpdatedAt", Kind: model.TimeSlot},
		"ttl":           {Field: "TTL", Kind: model.MillisSlot},
		"pollInterval":  {Field: "PollInterval", Kind: model.MillisSlot},
	}
}

func callResultSlots() map[string]model.WireSlot {
	return map[string]model.WireSlot{
		"content":           {Field: "Content", Kind: model.RawSlot},
		"structuredContent": {Field: "StructuredContent", Kind: model.RawSlot},
		"isError":           {Field: "IsError", Kind: model.BoolSlot},
		"relatedTask":       {Field: "RelatedTask", Kind: model.StringSlot},
	}
}

// wireMessages are in the order of the fields of server.Wire. It is long because it is a table.
func wireMessages() []wireMessage {
	return []wireMessage{
		{rule: "elicitResult", field: "ReadElicitResult", structName: "ElicitResult", param: "r", read: true, questions: true,
			slots: map[string]model.WireSlot{
				"action":  {Field: "Action", Kind: model.StringSlot},
				"content": {Field: "Content", Kind: model.RawSlot},
			}},
		{rule: "callResult", field: "ReadCallResult", structName: "CallResult", param: "r", read: true, results: true, meta: "Meta", slots: callResultSlots()},
		{rule: "initializeResult", field: "AppendInitializeResult", structName: "InitializeResult", param: "r",
			slots: map[string]model.WireSlot{
				"protocolVersion": {Field: "ProtocolVersion", Kind: model.StringSlot},
				"capabilities":    {Field: "Capabilities", Kind: model.RawSlot},
				"serverInfo":      {Field: "ServerInfo", Kind: model.RawSlot},
				"instructions":    {Field: "Instructions", Kind: model.StringSlot},
			}},
		{rule: "toolList", field: "AppendToolList", structName: "ToolList", param: "l",
			slots: map[string]model.WireSlot{
				"tools":      {Field: "Tools", Kind: model.RawSlot},
				"nextCursor": {Field: "NextCursor", Kind: model.StringSlot},
			}},
		{rule: "callResult", field: "AppendCallResult", structName: "CallResult", param: "r", meta: "Meta", slots: callResultSlots()},
		{rule: "task", field: "AppendTask", structName: "TaskView", param: "t", tasks: true, slots: taskSlots()},
		{rule: "taskCreated", field: "AppendTaskCreated", structName: "TaskView", param: "t", tasks: true},
		{rule: "taskList", field: "AppendTaskList", structName: "TaskList", param: "l", tasks: true,
			slots: map[string]model.WireSlot{
				"tasks":      {Field: "Tasks", Kind: model.RawSlot},
				"nextCursor": {Field: "NextCursor", Kind: model.StringSlot},
			}},
		{rule: "taskStatus", field: "AppendTaskStatus", structName: "TaskView", param: "t", tasks: true},
		{rule: "progress", field: "AppendProgress", structName: "Progress", param: "p",
			slots: map[string]model.WireSlot{
				"progressToken": {Field: "ProgressToken", Kind: model.IDSlot},
				"progress":      {Field: "Progress", Kind: model.FloatSlot},
				"total":         {Field: "Total", Kind: model.FloatSlot},
				"message":       {Field: "Message", Kind: model.StringSlot},
				"relatedTask":   {Field: "RelatedTask", Kind: model.StringSlot},
			}},
		{rule: "cancelled", field: "AppendCancelled", structName: "Cancelled", param: "c", questions: true,
			slots: map[string]model.WireSlot{
				"requestId": {Field: "RequestID", Kind: model.IDSlot},
				"reason":    {Field: "Reason", Kind: model.StringSlot},
			}},
		{rule: "elicit", field: "AppendElicit", structName: "Elicit", param: "e", questions: true,
			slots: map[string]model.WireSlot{
				"message":         {Field: "Message", Kind: model.StringSlot},
				"requestedSchema": {Field: "RequestedSchema", Kind: model.RawSlot},
				"relatedTask":     {Field: "RelatedTask", Kind: model.StringSlot},
			}},
	}
}

// paramSlots are the fields of server.Params, which all readers of params fill.
func paramSlots() map[string]model.WireSlot {
	return map[string]model.WireSlot{
		"protocolVersion": {Field: "ProtocolVersion", Kind: model.StringSlot},
		"capabilities":    {Field: "Capabilities", Kind: model.RawSlot},
		"clientInfo":      {Field: "ClientInfo", Kind: model.RawSlot},
		"cursor":          {Field: "Cursor", Kind: model.StringSlot},
		"name":            {Field: "Name", Kind: model.StringSlot},
		"arguments":       {Field: "Arguments", Kind: model.RawSlot},
		"task":            {Field: "Task", Kind: model.PresentSlot},
		"ttl":             {Field: "TTL", Kind: model.IntSlot, Set: "HasTTL"},
		"progressToken":   {Field: "ProgressToken", Kind: model.IDSlot},
		"taskId":          {Field: "TaskID", Kind: model.StringSlot},
		"requestId":       {Field: "RequestID", Kind: model.IDSlot},
		"reason":          {Field: "Reason", Kind: model.StringSlot},
	}
}
