package wire

// Op says what the runtime does with a method, or which of its own messages it sends. Names come from the
// Revision; the runtime knows operations only (REV04).
type Op uint8

// The operations. OpNone marks a method that the runtime does nothing with; as a request it is answered as unknown.
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
	OpSubscribe   // OpMethod, or of the registry, and its URI is noted for ResourceUpdated
	OpUnsubscribe // as OpSubscribe, and its URI is forgotten
	OpEmptyList   // an empty list, because there is no handler
	OpMethod      // served by the MethodHandler of this name; unknown without one
	OpIgnore      // known, nothing to do
	OpRootsChanged
	OpNotice // taken by the NoticeHandler of this name
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
	OpCount         // how many there are
)
