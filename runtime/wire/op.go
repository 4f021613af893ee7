package wire

// Op says what the runtime does with a method, or which message it sends. The method's name comes from the
// Revision; the runtime only knows operations (REV04).
type Op uint8

// The operations. OpNone is a method that the runtime does nothing with; a request of it is answered as unknown.
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
	// Served by the registries of prompts and resources; OpMethod where handlers serve them.
	OpListPrompts
	OpGetPrompt
	OpListResources
	OpListTemplates
	OpReadResource
	OpComplete
	OpSubscribe   // OpMethod, or served by the registry, and its URI is recorded for ResourceUpdated
	OpUnsubscribe // as OpSubscribe, and its URI is removed
	OpEmptyList   // an empty list, because there is no handler
	OpMethod      // served by the MethodHandler of this name; unknown without one
	OpIgnore      // known, nothing to do
	OpRootsChanged
	OpNotice // passed to the NoticeHandler of this name
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
	// Questions: requests to the client, or input requests inside a result.
	OpElicit
	OpCreateMessage
	OpListRoots
	OpCustomRequest // of the server's own: any number of them
	OpCount         // how many operations there are
)
