package wire

import "github.com/mcpkiln/mcpkiln/runtime/rpc"

// Params has the values that the params of any request or notification of the client may have. The read functions of a Revision fill the fields that
// the method's params have. Raw fields alias the received frame: they are valid until the read function's caller has
// dispatched the message, and are copied where they are needed longer.
type Params struct {
	// initialize; in a stateless revision every request has ProtocolVersion and ClientInfo
	ProtocolVersion string
	Capabilities    []byte // raw object
	ClientInfo      []byte // raw object
	// every request of a stateless revision
	ClientCapabilities []byte // raw object
	LogLevel           string
	ProgressToken      rpc.ID // zero when absent; tools/call has it in handshake revisions, too
	// lists
	Cursor    string
	HasCursor bool // Cursor is present: a client may send "", though the runtime makes no such cursor
	// tools/call, prompts/get, resources/read; completion/complete
	Name           string
	URI            string
	Arguments      []byte // raw object, nil when absent
	Argument       string // the argument to complete
	Value          string // the part of its value that was typed
	InputResponses []byte // raw object, nil when absent; tasks/update has it, too
	RequestState   string
	HasState       bool   // RequestState is present
	Task           []byte // raw value, nil when absent; ReadTaskParams reads it
	TTL            int64  // milliseconds, as requested; only if HasTTL
	HasTTL         bool
	// tasks
	TaskID string
	// notifications/cancelled
	RequestID rpc.ID // zero when absent or not an id
	Reason    string
	// logging/setLevel
	Level string
	// subscriptions/listen
	ToolsChanged, PromptsChanged, ResourcesChanged bool
	ResourceURIs                                   []string
	TaskIDs                                        []string
}

// InitializeResult is the result of initialize.
type InitializeResult struct {
	ProtocolVersion string
	Capabilities    []byte // raw object
	ServerInfo      []byte // raw object
	Instructions    string
}

// DiscoverResult tells the client of a stateless revision what the server has.
type DiscoverResult struct {
	SupportedVersions []string
	Capabilities      []byte // raw object
	Instructions      string
	CacheTTL          Millis
	CacheScope        string
	ServerInfo        []byte // raw object
}

// ToolList is one page of tools.
type ToolList struct {
	Tools      []byte // raw array
	NextCursor string
	CacheTTL   Millis
	CacheScope string
	ServerInfo []byte // raw object
}

// CallResult is the outcome of a tool in the protocol's terms.
type CallResult struct {
	Content           []byte // raw array
	StructuredContent []byte // raw value, nil for none
	IsError           bool
	// Meta is a raw object with the members that the tool put under _meta, nil for none. AppendMembers splices them.
	Meta []byte
	// RelatedTask is the id of the task that the result belongs to (TSK13).
	RelatedTask string
	ServerInfo  []byte // raw object
}

// Block is one content block of a tool result, or the contents of a resource in such a block.
type Block struct {
	Text             string
	Data             []byte // raw string: base64
	MIMEType         string
	URI, Name, Title string
	Description      string
	Size             []byte // raw integer: bytes of a link's resource, nil when that is not known
	Resource         []byte // raw object
	Annotations      []byte // raw object, nil for none
	Meta             []byte // raw object, nil for none
}

// Annotations say whom a content block is for and how important it is.
type Annotations struct {
	Audience     []string
	Priority     []byte // raw number, nil for none
	LastModified string // RFC 3339
}

// ItemList is one page of prompts, resources or resource templates.
type ItemList struct {
	Items      []byte // raw array
	NextCursor string
	CacheTTL   Millis
	CacheScope string
	ServerInfo []byte // raw object
}

// PromptResult is a prompt with its arguments filled in.
type PromptResult struct {
	Description string
	Messages    []byte // raw array of what AppendPromptMessage writes
	ServerInfo  []byte // raw object
}

// PromptMessage is one message of a prompt.
type PromptMessage struct {
	Role    string
	Content []byte // raw object
}

// ListedResource is a resource in a list that has no definition in JSON, such as a file of a file system.
type ListedResource struct {
	URI, Name, MIMEType string
	Size                float64 // bytes; 0: unknown
}

// ResourceResult has the contents of a resource.
type ResourceResult struct {
	Contents   []byte // raw array of what AppendTextResource and AppendBlobResource write
	CacheTTL   Millis
	CacheScope string
	ServerInfo []byte // raw object
}

// Completion has suggestions for the value of an argument.
type Completion struct {
	Values     []string
	Total      float64 // 0: unknown
	HasMore    bool
	ServerInfo []byte // raw object
}

// InputRequired is the result that asks the client to send the request again with answers (EXT17).
type InputRequired struct {
	InputRequests []byte // raw object: by key, an object with method and params
	RequestState  string
	ServerInfo    []byte // raw object
}

// TaskView is a task as one revision shows it. Only some messages have the fields after PollInterval.
type TaskView struct {
	ID            string
	Status        string
	StatusMessage string
	CreatedAt     Time
	LastUpdatedAt Time
	TTL           Millis // negative: unlimited, written as null
	PollInterval  Millis // 0: none

	Result         []byte // raw object
	Error          []byte // raw object
	InputRequests  []byte // raw object
	SubscriptionID rpc.ID
	ServerInfo     []byte // raw object
}

// TaskList is one page of tasks.
type TaskList struct {
	Tasks      []byte // raw array of what AppendTask writes
	NextCursor string
}

// Progress is one progress notification.
type Progress struct {
	ProgressToken rpc.ID
	Progress      float64
	Total         float64 // 0: unknown
	Message       string
	RelatedTask   string
}

// Cancelled tells the client that the server gave up a request that it had sent (CAN19), or ends a subscription.
type Cancelled struct {
	RequestID      rpc.ID
	Reason         string
	SubscriptionID rpc.ID
	RelatedTask    string
}

// Acknowledged is the first message of a subscription. It says which part of the request is served (EXT13).
type Acknowledged struct {
	ToolsChanged, PromptsChanged, ResourcesChanged bool
	ResourceURIs                                   []string
	TaskIDs                                        []string
	SubscriptionID                                 rpc.ID
}

// ListenResult is the result of a subscription, which ends it without an error.
type ListenResult struct {
	SubscriptionID rpc.ID
	ServerInfo     []byte // raw object
}

// Changed says that a list has changed.
type Changed struct {
	SubscriptionID rpc.ID // zero outside of a subscription
}

// ResourceUpdated says that a resource has changed.
type ResourceUpdated struct {
	URI            string
	SubscriptionID rpc.ID // zero outside of a subscription
}

// LogMessage is one log record for the client.
type LogMessage struct {
	Level, Logger string
	Data          []byte // raw value
	RelatedTask   string
}

// Elicit has the params of a question to the user, in form mode.
type Elicit struct {
	Message         string
	RequestedSchema []byte // raw object
	RelatedTask     string
}

// ElicitationComplete says that the user has finished on the page of a question in URL mode.
type ElicitationComplete struct {
	ElicitationID string
}

// ElicitResult is the client's answer to a question to the user.
type ElicitResult struct {
	Action  string
	Content []byte // raw object, nil when absent
}

// MissingCapability is the data of the error for a client that did not declare what a request needs (EXT05, EXT18).
type MissingCapability struct {
	RequiredCapabilities []byte // raw object
}

// UnsupportedVersion is the data of the error for a revision that is not served (EXT19).
type UnsupportedVersion struct {
	Supported []string
	Requested string
}
