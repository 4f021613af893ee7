package wire

// Slot is a value in messages, whatever its name and its place in a revision.
type Slot uint8

// The slots, named like the fields of the structs for messages.
const (
	SlotNone Slot = iota
	SlotAction
	SlotArguments
	SlotCacheScope
	SlotCacheTTL
	SlotCapabilities
	SlotClientCapabilities
	SlotClientInfo
	SlotContent
	SlotContents
	SlotCreatedAt
	SlotCursor
	SlotData
	SlotElicitationID
	SlotError
	SlotInputRequests
	SlotInputResponses
	SlotInstructions
	SlotIsError
	SlotItems // of a page
	SlotLastUpdatedAt
	SlotLevel
	SlotLogLevel
	SlotLogger
	SlotMessage
	SlotModelImmediateResponse
	SlotName
	SlotNextCursor
	SlotPollInterval
	SlotProgress
	SlotProgressToken
	SlotPromptsChanged
	SlotProtocolVersion
	SlotReason
	SlotRelatedTask
	SlotRequested
	SlotRequestedSchema
	SlotRequestID
	SlotRequestState
	SlotRequiredCapabilities
	SlotResourcesChanged
	SlotResourceURIs
	SlotResult
	SlotServerInfo
	SlotStatus
	SlotStatusMessage
	SlotStructuredContent
	SlotSubscriptionID
	SlotSupported
	SlotSupportedVersions
	SlotTask
	SlotTaskID
	SlotTaskIDs
	SlotToolsChanged
	SlotTotal
	SlotTTL
	SlotURI
	SlotURL
	SlotCount // the number of slots in Values, and an unused slot; the slots that follow are only read by servers
	SlotArgument
	SlotMeta
	SlotValue
)
