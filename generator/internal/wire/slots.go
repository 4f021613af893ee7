package wire

import (
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// slots are the fields of one struct of the runtime, by their slots in the rules.
type slots map[string]model.WireSlot

func stringSlot(field string) model.WireSlot {
	return model.WireSlot{Field: field, Kind: model.StringSlot}
}
func rawSlot(field string) model.WireSlot { return model.WireSlot{Field: field, Kind: model.RawSlot} }
func stringsSlot(field string) model.WireSlot {
	return model.WireSlot{Field: field, Kind: model.StringsSlot}
}
func idSlot(field string) model.WireSlot   { return model.WireSlot{Field: field, Kind: model.IDSlot} }
func boolSlot(field string) model.WireSlot { return model.WireSlot{Field: field, Kind: model.BoolSlot} }

// millisSlot is for appending alone; intSlot reads milliseconds as a number.
func millisSlot(field string) model.WireSlot {
	return model.WireSlot{Field: field, Kind: model.MillisSlot}
}
func intSlot(field string) model.WireSlot { return model.WireSlot{Field: field, Kind: model.IntSlot} }
func timeSlot(field string) model.WireSlot {
	return model.WireSlot{Field: field, Kind: model.TimeSlot}
}
func floatSlot(field string) model.WireSlot {
	return model.WireSlot{Field: field, Kind: model.FloatSlot}
}

// wireMessage is one function field of wire.Revision and the struct that it reads or appends.
type wireMessage struct {
	rule       string // the message's name in the rules
	field      string // of wire.Revision
	structName string // the struct, of runtime/wire
	param      string // the function's parameter for it
	read       bool   // the function reads it
	need       need
	slots      slots
	meta       string // append: field with raw members for _meta; read: field for the JSON of _meta
}

// taskSlots are the fields of wire.TaskView, shared by all messages about one task.
func taskSlots() slots {
	return slots{
		"id": stringSlot("ID"), "status": stringSlot("Status"), "statusMessage": stringSlot("StatusMessage"), "createdAt": timeSlot("CreatedAt"),
		"lastUpdatedAt": timeSlot("LastUpdatedAt"), "ttl": millisSlot("TTL"), "pollInterval": millisSlot("PollInterval"),
		"result": rawSlot("Result"), "error": rawSlot("Error"), "inputRequests": rawSlot("InputRequests"), "subscriptionId": idSlot("SubscriptionID"),
		"serverInfo": rawSlot("ServerInfo"),
	}
}

func taskView(rule, field string) wireMessage {
	return wireMessage{rule: rule, field: field, structName: "TaskView", param: "t", need: forTasks, slots: taskSlots()}
}

// block is a content block, or what is inside of one. No message has both data and blob, so they share a field. size is JSON here, because 0 is a
// size in a block; in ListedResource it is a number, and 0 means unknown.
func block(rule, field string) wireMessage {
	return wireMessage{rule: rule, field: field, structName: "Block", param: "c", need: forTools | forPromptRegistry | forResourceRegistry, slots: slots{
		"text": stringSlot("Text"), "data": rawSlot("Data"), "blob": rawSlot("Data"), "mimeType": stringSlot("MIMEType"), "uri": stringSlot("URI"),
		"name": stringSlot("Name"), "title": stringSlot("Title"), "description": stringSlot("Description"), "size": rawSlot("Size"),
		"resource": rawSlot("Resource"), "annotations": rawSlot("Annotations"), "meta": rawSlot("Meta"),
	}}
}

func callResultSlots() slots {
	return slots{
		"content": rawSlot("Content"), "structuredContent": rawSlot("StructuredContent"), "isError": boolSlot("IsError"),
		"relatedTask": stringSlot("RelatedTask"), "serverInfo": rawSlot("ServerInfo"),
	}
}

// itemList is a page of a list of prompts, resources or resource templates.
func itemList(rule, field string, of need) wireMessage {
	return wireMessage{rule: rule, field: field, structName: "ItemList", param: "l", need: of, slots: slots{
		"items": rawSlot("Items"), "nextCursor": stringSlot("NextCursor"), "cacheTTL": millisSlot("CacheTTL"), "cacheScope": stringSlot("CacheScope"),
		"serverInfo": rawSlot("ServerInfo"),
	}}
}

// wireMessages are all messages, in the order of the fields of wire.Revision.
var wireMessages = sync.OnceValue(func() []wireMessage {
	return slices.Concat(readMessages(), discoveryMessages(), contentMessages(), registryMessages(), endingMessages(), taskMessages(), notificationMessages(),
		questionMessages(), errorMessages())
})

// readMessages are what the server reads: into wire.Params what every request has (request) and the member task of a call (taskParams), the
// client's answer to an elicitation, and the results of tools without outputSchema. The params of single methods are in clientOps (table.go).
func readMessages() []wireMessage {
	return []wireMessage{
		{rule: "request", field: "ReadRequest", structName: "Params", param: "p", read: true, slots: paramSlots()},
		{rule: "taskParams", field: "ReadTaskParams", structName: "Params", param: "p", read: true, need: forTasks, slots: paramSlots()},
		{rule: "elicitResult", field: "ReadElicitResult", structName: "ElicitResult", param: "r", read: true, need: forElicits,
			slots: slots{"action": stringSlot("Action"), "content": rawSlot("Content")}},
		{rule: "callResult", field: "ReadCallResult", structName: "CallResult", param: "r", read: true, need: forResults, meta: "Meta",
			slots: callResultSlots()},
	}
}

// discoveryMessages say what the server is and has.
func discoveryMessages() []wireMessage {
	return []wireMessage{
		{rule: "initializeResult", field: "AppendInitializeResult", structName: "InitializeResult", param: "r", slots: slots{
			"protocolVersion": stringSlot("ProtocolVersion"), "capabilities": rawSlot("Capabilities"), "serverInfo": rawSlot("ServerInfo"),
			"instructions": stringSlot("Instructions"),
		}},
		{rule: "discoverResult", field: "AppendDiscoverResult", structName: "DiscoverResult", param: "r", slots: slots{
			"supportedVersions": stringsSlot("SupportedVersions"), "capabilities": rawSlot("Capabilities"), "instructions": stringSlot("Instructions"),
			"cacheTTL": millisSlot("CacheTTL"), "cacheScope": stringSlot("CacheScope"), "serverInfo": rawSlot("ServerInfo"),
		}},
		{rule: "toolList", field: "AppendToolList", structName: "ToolList", param: "l", slots: slots{
			"tools": rawSlot("Tools"), "nextCursor": stringSlot("NextCursor"), "cacheTTL": millisSlot("CacheTTL"), "cacheScope": stringSlot("CacheScope"),
			"serverInfo": rawSlot("ServerInfo"),
		}},
	}
}

// contentMessages are results of tools and the blocks in them.
func contentMessages() []wireMessage {
	return []wireMessage{
		{rule: "callResult", field: "AppendCallResult", structName: "CallResult", param: "r", meta: "Meta", slots: callResultSlots()},
		{rule: "annotations", field: "AppendAnnotations", structName: "Annotations", param: "a", need: forTools | forPromptRegistry,
			slots: slots{"audience": stringsSlot("Audience"), "priority": rawSlot("Priority"), "lastModified": stringSlot("LastModified")}},
		block("textBlock", "AppendTextBlock"),
		block("imageBlock", "AppendImageBlock"),
		block("audioBlock", "AppendAudioBlock"),
		block("linkBlock", "AppendLinkBlock"),
		block("resourceBlock", "AppendResourceBlock"),
		block("textResource", "AppendTextResource"),
		block("blobResource", "AppendBlobResource"),
	}
}

// registryMessages are of prompts, resources and completions.
func registryMessages() []wireMessage {
	return []wireMessage{
		itemList("promptList", "AppendPromptList", forPromptRegistry),
		{rule: "promptResult", field: "AppendPromptResult", structName: "PromptResult", param: "r", need: forPromptRegistry,
			slots: slots{"description": stringSlot("Description"), "messages": rawSlot("Messages"), "serverInfo": rawSlot("ServerInfo")}},
		{rule: "promptMessage", field: "AppendPromptMessage", structName: "PromptMessage", param: "m", need: forPromptRegistry,
			slots: slots{"role": stringSlot("Role"), "content": rawSlot("Content")}},
		itemList("resourceList", "AppendResourceList", forResourceRegistry),
		itemList("templateList", "AppendTemplateList", forResourceRegistry),
		{rule: "resource", field: "AppendResource", structName: "ListedResource", param: "r", need: forResourceRegistry, slots: slots{
			"uri": stringSlot("URI"), "name": stringSlot("Name"), "mimeType": stringSlot("MIMEType"), "size": floatSlot("Size"),
		}},
		{rule: "resourceRead", field: "AppendResourceResult", structName: "ResourceResult", param: "r", need: forResourceRegistry, slots: slots{
			"contents": rawSlot("Contents"), "cacheTTL": millisSlot("CacheTTL"), "cacheScope": stringSlot("CacheScope"), "serverInfo": rawSlot("ServerInfo"),
		}},
		{rule: "completion", field: "AppendCompletion", structName: "Completion", param: "c", need: forCompletions, slots: slots{
			"values": stringsSlot("Values"), "total": floatSlot("Total"), "hasMore": boolSlot("HasMore"), "serverInfo": rawSlot("ServerInfo"),
		}},
	}
}

// endingMessages are results that end a run with questions, or a subscription.
func endingMessages() []wireMessage {
	return []wireMessage{
		{rule: "inputRequired", field: "AppendInputRequired", structName: "InputRequired", param: "r", slots: slots{
			"inputRequests": rawSlot("InputRequests"), "requestState": stringSlot("RequestState"), "serverInfo": rawSlot("ServerInfo"),
		}},
		{rule: "listenResult", field: "AppendListenResult", structName: "ListenResult", param: "r",
			slots: slots{"subscriptionId": idSlot("SubscriptionID"), "serverInfo": rawSlot("ServerInfo")}},
	}
}

func taskMessages() []wireMessage {
	return []wireMessage{
		taskView("taskCreated", "AppendTaskCreated"),
		taskView("task", "AppendTask"),
		taskView("taskDetail", "AppendTaskDetail"),
		taskView("taskCancelled", "AppendTaskCancelled"),
		taskView("taskUpdated", "AppendTaskUpdated"),
		{rule: "taskList", field: "AppendTaskList", structName: "TaskList", param: "l", need: forTasks,
			slots: slots{"tasks": rawSlot("Tasks"), "nextCursor": stringSlot("NextCursor")}},
		taskView("taskStatus", "AppendTaskStatus"),
	}
}

// notificationMessages are the params of the server's notifications.
func notificationMessages() []wireMessage {
	return []wireMessage{
		{rule: "progress", field: "AppendProgress", structName: "Progress", param: "p", slots: slots{
			"progressToken": idSlot("ProgressToken"), "progress": floatSlot("Progress"), "total": floatSlot("Total"), "message": stringSlot("Message"),
			"relatedTask": stringSlot("RelatedTask"),
		}},
		{rule: "cancelled", field: "AppendCancelled", structName: "Cancelled", param: "c", need: forCancelled, slots: slots{
			"requestId": idSlot("RequestID"), "reason": stringSlot("Reason"), "subscriptionId": idSlot("SubscriptionID"), "relatedTask": stringSlot("RelatedTask"),
		}},
		{rule: "acknowledged", field: "AppendAcknowledged", structName: "Acknowledged", param: "a", slots: slots{
			"toolsChanged": boolSlot("ToolsChanged"), "promptsChanged": boolSlot("PromptsChanged"), "resourcesChanged": boolSlot("ResourcesChanged"),
			"resourceURIs": stringsSlot("ResourceURIs"), "taskIds": stringsSlot("TaskIDs"), "subscriptionId": idSlot("SubscriptionID"),
		}},
		{rule: "changed", field: "AppendChanged", structName: "Changed", param: "c", slots: slots{"subscriptionId": idSlot("SubscriptionID")}},
		{rule: "resourceUpdated", field: "AppendResourceUpdated", structName: "ResourceUpdated", param: "u", need: forUpdates,
			slots: slots{"uri": stringSlot("URI"), "subscriptionId": idSlot("SubscriptionID")}},
		{rule: "log", field: "AppendLog", structName: "LogMessage", param: "l", need: forLogging,
			slots: slots{"level": stringSlot("Level"), "logger": stringSlot("Logger"), "data": rawSlot("Data"), "relatedTask": stringSlot("RelatedTask")}},
	}
}

func questionMessages() []wireMessage {
	return []wireMessage{
		{rule: "elicit", field: "AppendElicit", structName: "Elicit", param: "e", need: forElicits,
			slots: slots{"message": stringSlot("Message"), "requestedSchema": rawSlot("RequestedSchema"), "relatedTask": stringSlot("RelatedTask")}},
		{rule: "elicitationComplete", field: "AppendElicitationComplete", structName: "ElicitationComplete", param: "e", need: forPages,
			slots: slots{"elicitationId": stringSlot("ElicitationID")}},
	}
}

// errorMessages are the data of errors.
func errorMessages() []wireMessage {
	return []wireMessage{
		{rule: "missingCapability", field: "AppendMissingCapability", structName: "MissingCapability", param: "m",
			slots: slots{"requiredCapabilities": rawSlot("RequiredCapabilities")}},
		{rule: "unsupportedVersion", field: "AppendUnsupportedVersion", structName: "UnsupportedVersion", param: "u",
			slots: slots{"supported": stringsSlot("Supported"), "requested": stringSlot("Requested")}},
	}
}

// paramSlots are the fields of wire.Params, filled by all readers of params.
var paramSlots = sync.OnceValue(func() slots {
	return slots{
		"protocolVersion": stringSlot("ProtocolVersion"), "capabilities": rawSlot("Capabilities"), "clientInfo": rawSlot("ClientInfo"),
		"clientCapabilities": rawSlot("ClientCapabilities"), "logLevel": stringSlot("LogLevel"), "progressToken": idSlot("ProgressToken"),
		"cursor": stringSlot("Cursor"), "name": stringSlot("Name"), "uri": stringSlot("URI"), "arguments": rawSlot("Arguments"),
		"argument": stringSlot("Argument"), "value": stringSlot("Value"),
		"inputResponses": rawSlot("InputResponses"), "requestState": stringSlot("RequestState"),
		"task": rawSlot("Task"), "ttl": intSlot("TTL"),
		"taskId": stringSlot("TaskID"), "requestId": idSlot("RequestID"), "reason": stringSlot("Reason"), "level": stringSlot("Level"),
		"toolsChanged": boolSlot("ToolsChanged"), "promptsChanged": boolSlot("PromptsChanged"), "resourcesChanged": boolSlot("ResourcesChanged"),
		"resourceURIs": stringsSlot("ResourceURIs"), "taskIds": stringsSlot("TaskIDs"),
	}
})
