package server

// Op says what the runtime does with a method, or which of its own messages it sends. Names on the wire come from the
// Wire; the runtime knows operations only (REV04).
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
	OpSubscribe   // OpMethod, and its URI is noted for ResourceUpdated
	OpUnsubscribe // OpMethod, and its URI is forgotten
	OpMethod      // served by the MethodHandler of this name; unknown without one
	OpIgnore      // known, nothing to do
	OpRootsChanged
	// Sent by the server. OpCancelled and OpProgress are sent by both.
	OpTaskStatus
	OpAcknowledged
	OpToolsChanged
	OpPromptsChanged
	OpResourcesChanged
	OpResourceUpdated
	OpLog
	OpElicitationComplete
	// Questions: requests to the client, or input requests inside a result.
	OpElicit
	OpCreateMessage
	OpListRoots
	opCount
)
