package wire

// The tables here and in slots.go are the runtime's side of a wire: the operations, fields and functions of package runtime/wire. A revision's
// rules are the other side; this package joins them. A slot of the rules without a row here is neither read nor written.

// need says which packages a row is for; zero is all of them.
type need uint32

const (
	forTools     need = 1 << iota // there are tools
	forTasks                      // a tool runs as a task
	forCancelled                  // the server cancels its own requests, or ends a subscription
	forElicits                    // elicitation, by a question of the manifest or a request that a handler makes
	forSampling
	forRoots
	forResults // a tool has no outputSchema
	forLogging
	forPrompts
	forResources
	forUpdates // clients subscribe to resources
	forPages   // a request to the client may open a page (elicitation by URL)
	forPromptRegistry
	forResourceRegistry
	forCompletions // the registries complete arguments
)

// clientOp is an operation of messages that the client sends. reads is the message of its params in the rules; empty where
// the runtime needs none of them.
type clientOp struct {
	name, reads string
	need        need
}

func clientOps() map[string]clientOp {
	return map[string]clientOp{
		"initialize":            {name: "OpInitialize", reads: "initialize"},
		"initialized":           {name: "OpInitialized"},
		"discover":              {name: "OpDiscover", reads: "discover"},
		"ping":                  {name: "OpPing", reads: "request"},
		"cancelled":             {name: "OpCancelled", reads: "cancelled"},
		"progress":              {name: "OpProgress"},
		"listTools":             {name: "OpListTools", reads: "listTools"},
		"callTool":              {name: "OpCallTool", reads: "callTool"},
		"getTask":               {name: "OpGetTask", reads: "getTask", need: forTasks},
		"taskResult":            {name: "OpTaskResult", reads: "taskResult", need: forTasks},
		"listTasks":             {name: "OpListTasks", reads: "listTasks", need: forTasks},
		"cancelTask":            {name: "OpCancelTask", reads: "cancelTask", need: forTasks},
		"updateTask":            {name: "OpUpdateTask", reads: "updateTask", need: forTasks},
		"listen":                {name: "OpListen", reads: "listen"},
		"listPrompts":           {name: "OpListPrompts", reads: "listTools"},
		"getPrompt":             {name: "OpGetPrompt", reads: "getPrompt"},
		"listResources":         {name: "OpListResources", reads: "listTools"},
		"listResourceTemplates": {name: "OpListTemplates", reads: "listTools"},
		"readResource":          {name: "OpReadResource", reads: "readResource"},
		"complete":              {name: "OpComplete", reads: "complete"},
		"subscribe":             {name: "OpSubscribe", reads: "subscribe"},
		"unsubscribe":           {name: "OpUnsubscribe", reads: "unsubscribe"},
		"setLevel":              {name: "OpSetLevel", reads: "setLevel", need: forLogging},
		"taskStatus":            {name: "OpIgnore"}, // the status of a task that the client runs: this server starts none
		"rootsChanged":          {name: "OpRootsChanged"},
	}
}

// serverOp is an operation of messages that the server sends: its op in the rules, and the constant of package runtime/wire.
type serverOp struct {
	rule, name string
	need       need
}

func serverOps() []serverOp {
	return []serverOp{
		{rule: "elicit", name: "OpElicit", need: forElicits},
		{rule: "elicitationComplete", name: "OpElicitationComplete", need: forPages},
		{rule: "createMessage", name: "OpCreateMessage", need: forSampling},
		{rule: "listRoots", name: "OpListRoots", need: forRoots},
		{rule: "progress", name: "OpProgress"},
		{rule: "cancelled", name: "OpCancelled", need: forCancelled},
		{rule: "taskStatus", name: "OpTaskStatus", need: forTasks},
		{rule: "acknowledged", name: "OpAcknowledged"},
		{rule: "toolsChanged", name: "OpToolsChanged", need: forTools},
		{rule: "promptsChanged", name: "OpPromptsChanged", need: forPrompts},
		{rule: "resourcesChanged", name: "OpResourcesChanged", need: forResources},
		{rule: "resourceUpdated", name: "OpResourceUpdated", need: forUpdates},
		{rule: "log", name: "OpLog", need: forLogging},
	}
}

// capabilityField is a field of wire.Capabilities: it holds the path of a slot in the capabilities of the server, or of the client.
type capabilityField struct {
	slot, field string
	client      bool
	need        need
}

func capabilityFields() []capabilityField {
	return []capabilityField{
		{slot: "tools", field: "Tools", need: forTools},
		{slot: "toolsListChanged", field: "ToolsChanged", need: forTools},
		{slot: "promptsListChanged", field: "PromptsChanged", need: forPrompts},
		{slot: "resourcesListChanged", field: "ResourcesChanged", need: forResources},
		{slot: "resourcesSubscribe", field: "ResourceUpdated", need: forUpdates},
		{slot: "logging", field: "Logging", need: forLogging},
		{slot: "taskList", field: "TaskList", need: forTasks},
		{slot: "taskCancel", field: "TaskCancel", need: forTasks},
		{slot: "taskCall", field: "TaskCall", need: forTasks},
		{slot: "rootsListChanged", field: "RootsChanged", client: true},
	}
}

// extensionFields are the fields for the tasks extension, for revisions in which tasks are an extension.
func extensionFields() []capabilityField {
	return []capabilityField{
		{slot: "tasks", field: "Tasks", need: forTasks},
		{slot: "tasks", field: "ClientTasks", client: true, need: forTasks},
	}
}

// statusNames are the constants of package task, by the protocol's names of the statuses.
func statusNames() map[string]string {
	return map[string]string{
		"working": "Working", "input_required": "InputRequired", "completed": "Completed", "failed": "Failed", "cancelled": "Cancelled",
	}
}
