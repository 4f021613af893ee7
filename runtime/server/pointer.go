package server

// Where the params have what an error is about, as a JSON Pointer: the same in every revision that has the member.
const (
	atURI             = "/uri"
	atURIs            = "/notifications/resourceSubscriptions"
	atName            = "/name"
	atTask            = "/task"
	atTTL             = "/task/ttl"
	atTaskID          = "/taskId"
	atCursor          = "/cursor"
	atLevel           = "/level"
	atReference       = "/ref"
	atPromptName      = "/ref/name"
	atTemplateURI     = "/ref/uri"
	atArgumentName    = "/argument/name"
	atProtocolVersion = "/protocolVersion"
	atRequestState    = "/requestState"
	atInputResponses  = "/inputResponses"
	atAction          = "/action" // of an answer
)
