package wire

// Op is an operation: what the runtime does with a method, or which message it sends. The method's name comes from the
// Revision; the runtime only knows operations (REV04).
type Op uint8

// The operations. OpNone is a method that the runtime does nothing with; a request with it is answered as if the method were unknown.
const (
	OpNone Op = iota
	// Sent by the client.
	OpInitialize
	OpInitialized
	OpDiscover
	OpPing
	OpCancelled
	OpProgress
	OpListTools
	OpCallTool
	OpGetTask
	OpTaskResult
	OpListTasks
	OpCancelTask
	OpUpdateTask
	OpListen
	OpSetLevel
	// Served by the registries of prompts and resources. Where handlers of the application serve these methods, they are OpMethod instead.
	OpListPrompts
	OpGetPrompt
	OpListResources
	OpListTemplates
	OpReadResource
	OpComplete
	OpSubscribe   // served by a MethodHandler or the registry, and its URI is recorded for ResourceUpdated
	OpUnsubscribe // as OpSubscribe, but its URI is removed
	OpEmptyList   // answered with an empty list, because there is no handler
	OpMethod      // served by the MethodHandler for its name; unknown without one
	OpIgnore      // known, but there is nothing to do
	OpRootsChanged
	OpNotice // passed to the NoticeHandler for its name
	// Sent by the server. OpCancelled and OpProgress are sent by both.
	OpTaskStatus
	OpAcknowledged
	OpToolsChanged
	OpPromptsChanged
	OpResourcesChanged
	OpResourceUpdated
	OpLog
	OpElicitationComplete
	OpCustom // a notification of the server's own
	// Questions: requests to the client, or input requests.
	OpElicit
	OpCreateMessage
	OpListRoots
	OpCustomRequest // a request of the server's own; there may be any number of them
	OpCount         // how many operations there are
)
