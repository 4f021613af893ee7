package revision

import (
	"maps"
	"sync"
)

// SlotKind is the kind of value of a slot. A path to a place of another type is refused.
type SlotKind string

// The kinds of slots. A task's own slots are those of the message `task`.
const (
	SlotString  SlotKind = "string"
	SlotStrings SlotKind = "strings"
	SlotInteger SlotKind = "integer"
	SlotNumber  SlotKind = "number"
	SlotBool    SlotKind = "bool"
	SlotID      SlotKind = "id"      // string or integer, compared by type and exact value (CAN05)
	SlotRaw     SlotKind = "raw"     // JSON that is passed on as it is
	SlotPresent SlotKind = "present" // only whether it is there
	SlotTask    SlotKind = "task"    // the message `task`
	SlotTasks   SlotKind = "tasks"   // an array of `task`
)

// words are the slots of a message, with their kinds.
type words map[string]SlotKind

// Slots that several messages share.
func requestWords(own words) words {
	return own.with(words{
		"protocolVersion": SlotString, "clientCapabilities": SlotRaw, "clientInfo": SlotRaw, "logLevel": SlotString,
		"progressToken": SlotID,
	})
}

func inputWords(own words) words {
	return requestWords(own.with(words{"inputResponses": SlotRaw, "requestState": SlotString}))
}

func resultWords(own words) words {
	return own.with(words{"serverInfo": SlotRaw})
}

func blockWords(own words) words {
	return own.with(words{"annotations": SlotRaw, "meta": SlotRaw})
}

func cacheWords(own words) words {
	return resultWords(own.with(words{"cacheTTL": SlotInteger, "cacheScope": SlotString}))
}

func (w words) with(more words) words {
	out := maps.Clone(w)
	maps.Copy(out, more)
	return out
}

// messageWords is the runtime's half of `messages`: a revision fills in paths and leaves out what it does not have. A
// slot that is not here has no field in the runtime, so a rules file that names one is wrong.
var messageWords = sync.OnceValue(func() map[string]words {
	return map[string]words{
		"initialize": requestWords(words{"capabilities": SlotRaw}),
		"discover":   requestWords(words{}),
		"request":    requestWords(words{}),
		"listTools":  requestWords(words{"cursor": SlotString}),
		"callTool": inputWords(words{
			"name": SlotString, "arguments": SlotRaw, "task": SlotRaw,
		}),
		"taskParams":   {"ttl": SlotInteger},
		"getPrompt":    inputWords(words{"name": SlotString, "arguments": SlotRaw}),
		"readResource": inputWords(words{"uri": SlotString}),
		"complete": requestWords(words{
			"name": SlotString, "uri": SlotString, "argument": SlotString, "value": SlotString, "arguments": SlotRaw,
		}),
		"getTask":     requestWords(words{"taskId": SlotString}),
		"taskResult":  requestWords(words{"taskId": SlotString}),
		"cancelTask":  requestWords(words{"taskId": SlotString}),
		"updateTask":  requestWords(words{"taskId": SlotString, "inputResponses": SlotRaw}),
		"subscribe":   requestWords(words{"uri": SlotString}),
		"unsubscribe": requestWords(words{"uri": SlotString}),
		"listTasks":   requestWords(words{"cursor": SlotString}),
		"setLevel":    requestWords(words{"level": SlotString}),
		"listen": requestWords(words{
			"toolsChanged": SlotBool, "promptsChanged": SlotBool, "resourcesChanged": SlotBool,
			"resourceURIs": SlotStrings, "taskIds": SlotStrings,
		}),
		"elicitResult": {"action": SlotString, "content": SlotRaw},

		"cancelled": {"requestId": SlotID, "reason": SlotString, "subscriptionId": SlotID, "relatedTask": SlotString},
		"progress": {
			"progressToken": SlotID, "progress": SlotNumber, "total": SlotNumber, "message": SlotString,
			"relatedTask": SlotString,
		},
		"log":        {"level": SlotString, "logger": SlotString, "data": SlotRaw, "relatedTask": SlotString},
		"taskStatus": {"task": SlotTask, "result": SlotRaw, "error": SlotRaw, "inputRequests": SlotRaw, "subscriptionId": SlotID},
		"acknowledged": {
			"toolsChanged": SlotBool, "promptsChanged": SlotBool, "resourcesChanged": SlotBool,
			"resourceURIs": SlotStrings, "taskIds": SlotStrings, "subscriptionId": SlotID,
		},
		"changed":             {"subscriptionId": SlotID},
		"resourceUpdated":     {"uri": SlotString, "subscriptionId": SlotID},
		"elicitationComplete": {"elicitationId": SlotString},
		"elicit":              {"message": SlotString, "requestedSchema": SlotRaw, "relatedTask": SlotString},
		"elicitURL":           {"message": SlotString, "url": SlotString, "elicitationId": SlotString, "relatedTask": SlotString},
		"createMessage":       {"relatedTask": SlotString},

		"annotations":   {"audience": SlotStrings, "priority": SlotRaw, "lastModified": SlotString},
		"textBlock":     blockWords(words{"text": SlotString}),
		"imageBlock":    blockWords(words{"data": SlotRaw, "mimeType": SlotString}),
		"audioBlock":    blockWords(words{"data": SlotRaw, "mimeType": SlotString}),
		"linkBlock":     blockWords(words{"uri": SlotString, "name": SlotString, "title": SlotString, "description": SlotString, "mimeType": SlotString, "size": SlotRaw}),
		"resourceBlock": blockWords(words{"resource": SlotRaw}),
		"textResource":  {"uri": SlotString, "mimeType": SlotString, "text": SlotString, "meta": SlotRaw},
		"blobResource":  {"uri": SlotString, "mimeType": SlotString, "blob": SlotRaw, "meta": SlotRaw},

		"initializeResult": resultWords(words{
			"protocolVersion": SlotString, "capabilities": SlotRaw, "instructions": SlotString,
		}),
		"discoverResult": cacheWords(words{
			"supportedVersions": SlotStrings, "capabilities": SlotRaw, "instructions": SlotString,
		}),
		"toolList":      cacheWords(words{"tools": SlotRaw, "nextCursor": SlotString}),
		"promptList":    cacheWords(words{"items": SlotRaw, "nextCursor": SlotString}),
		"resourceList":  cacheWords(words{"items": SlotRaw, "nextCursor": SlotString}),
		"templateList":  cacheWords(words{"items": SlotRaw, "nextCursor": SlotString}),
		"promptResult":  resultWords(words{"description": SlotString, "messages": SlotRaw}),
		"promptMessage": {"role": SlotString, "content": SlotRaw},
		"resource":      {"uri": SlotString, "name": SlotString, "mimeType": SlotString, "size": SlotNumber},
		"resourceRead":  cacheWords(words{"contents": SlotRaw}),
		"completion":    resultWords(words{"values": SlotStrings, "total": SlotNumber, "hasMore": SlotBool}),
		"callResult": resultWords(words{
			"content": SlotRaw, "structuredContent": SlotRaw, "isError": SlotBool, "relatedTask": SlotString,
		}),
		"inputRequired": resultWords(words{"inputRequests": SlotRaw, "requestState": SlotString}),
		"listenResult":  resultWords(words{"subscriptionId": SlotID}),
		"task": {
			"id": SlotString, "status": SlotString, "statusMessage": SlotString, "createdAt": SlotString,
			"lastUpdatedAt": SlotString, "ttl": SlotInteger, "pollInterval": SlotInteger,
		},
		"taskCreated": resultWords(words{"task": SlotTask, "modelImmediateResponse": SlotString}),
		"taskDetail": resultWords(words{
			"task": SlotTask, "result": SlotRaw, "error": SlotRaw, "inputRequests": SlotRaw,
		}),
		"taskCancelled": resultWords(words{"task": SlotTask}),
		"taskUpdated":   resultWords(words{}),
		"taskList":      resultWords(words{"tasks": SlotTasks, "nextCursor": SlotString}),

		"missingCapability":  {"requiredCapabilities": SlotRaw},
		"unsupportedVersion": {"supported": SlotStrings, "requested": SlotString},
	}
})

// ops are the ops that the runtime knows.
func ops() []string {
	return []string{
		"initialize", "initialized", "discover", "ping", "cancelled", "progress",
		"listTools", "callTool", "toolsChanged", "promptsChanged", "resourcesChanged", "resourceUpdated",
		"getTask", "taskResult", "updateTask", "listTasks", "cancelTask", "taskStatus",
		"listen", "acknowledged", "subscribe", "unsubscribe", "setLevel", "log",
		"listPrompts", "getPrompt", "listResources", "listResourceTemplates", "readResource", "complete",
		"createMessage", "elicit", "elicitationComplete", "listRoots", "rootsChanged",
	}
}

// errorNames are the errors with a code of their own. The first ones (standardErrors) are JSON-RPC's, which every revision has.
func errorNames() []string {
	return []string{
		"parseError", "invalidRequest", "methodNotFound", "invalidParams", "internalError",
		"promptNotFound", "resourceNotFound", "urlElicitationRequired", "missingMeta", "headerMismatch", "missingCapability",
		"unsupportedVersion",
	}
}

const standardErrors = 5

// Slots of the two capability messages.
func serverCapabilities() words {
	return present("completions", "experimental", "extensions", "logging", "prompts", "promptsListChanged", "resources",
		"resourcesListChanged", "resourcesSubscribe", "taskCall", "taskCancel", "taskList", "tasks", "tools",
		"toolsListChanged")
}

func clientCapabilities() words {
	return present("elicitation", "elicitationForm", "elicitationURL", "experimental", "extensions", "roots",
		"rootsListChanged", "sampling", "samplingContext", "samplingTools", "taskCancel", "taskCreateMessage",
		"taskElicit", "taskList", "tasks")
}

func present(names ...string) words {
	w := words{}
	for _, name := range names {
		w[name] = SlotPresent
	}
	return w
}

func metaNames() []string {
	return []string{
		"progressToken", "relatedTask", "modelImmediateResponse", "protocolVersion", "clientCapabilities", "clientInfo",
		"logLevel", "serverInfo", "subscriptionId",
	}
}

func headerNames() []string {
	return []string{"protocolVersion", "session", "lastEvent", "method", "name", "paramPrefix"}
}
