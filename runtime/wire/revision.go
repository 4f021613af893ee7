package wire

import (
	"encoding/json"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Revision is one protocol revision as generated code describes it: the methods, and one function per message that
// reads or appends it. A Revision is read-only after New.
//
// Append functions follow one rule: an optional slot whose field is zero (nil, "", 0, false) is left out, a required
// slot is always written. Raw fields ([]byte) hold complete JSON values. Fields of type rpc.ID, Millis and Time are
// written with their own AppendJSON(b []byte) []byte.
type Revision struct {
	// Version is the protocol version as it is negotiated, such as "2025-11-25".
	Version string
	// Handshake says that the revision begins with initialize. Without it, it is stateless: each request says in its _meta which
	// revision it is written in and what its client can do.
	Handshake bool
	// Batches: an array of messages is received, and answered by an array (CAN24). Other revisions refuse it.
	Batches bool
	// Methods are the requests and notifications that the client may send, sorted by name.
	Methods []Method
	// Outgoing are the requests, input requests and notifications that the server may send. What is missing is neither
	// sent nor declared.
	Outgoing []Outgoing
	// Task is the revision's part of the task state machine; zero when it has no tasks or no tool runs as one.
	Task TaskRules
	// Capabilities says where capabilities are declared.
	Capabilities Capabilities
	// ToolExecution is the member of an advertised tool that holds Tool.Execution; "" when the revision has none.
	ToolExecution string
	// View is what of newer revisions this one has not.
	View View
	// Codes are the error codes that revisions differ in.
	Codes Codes
	// Meta are the _meta keys that the runtime itself looks for or writes.
	Meta Meta
	// Result are the members that every result carries; zero before 2026-07-28.
	Result ResultRules
	// Own are the names that no handler can give a value (LET01).
	Own Own
	// HTTP is what the revision says about Streamable HTTP.
	HTTP HTTP

	// TaskCreated is the definition of a result that is a task; "" where no request has one.
	TaskCreated string
	// Definitions are those of results, and what they refer to, sorted by name. A result is held against them that no handler
	// made (LET01): middleware did.
	Definitions []Definition
	// Inherits are definitions of a newer revision, sorted by name. They hold here, too, where Definitions has none of the name.
	Inherits []Definition

	// ReadRequest reads what every request carries (message `request`); nil before 2026-07-28.
	ReadRequest func(d *check.Decoder, p *Params)
	// ReadTaskParams reads Params.Task, where the call becomes a task; nil before and after 2025-11-25.
	ReadTaskParams func(d *check.Decoder, p *Params)
	// ReadElicitResult reads the client's answer to a question.
	ReadElicitResult func(d *check.Decoder, r *ElicitResult)
	// ReadCallResult takes a whole tool result apart, for tools that build the protocol's own result type; nil when
	// there are none.
	ReadCallResult func(d *check.Decoder, r *CallResult)
	// CheckCallResult validates what such a tool wrote by the definition of a tool result (LET01). nil: any JSON will do.
	CheckCallResult func(d *check.Decoder)

	// AppendOutput writes what such a tool returned, for revisions that lack something of it; nil: as the tool itself does.
	AppendOutput func(b []byte, out any) []byte

	AppendInitializeResult func(b []byte, r *InitializeResult) []byte
	AppendDiscoverResult   func(b []byte, r *DiscoverResult) []byte
	AppendToolList         func(b []byte, l *ToolList) []byte
	AppendCallResult       func(b []byte, r *CallResult) []byte
	// Blocks of content, and what is inside of them; nil: the revision has none of the kind, and a text stands in its place.
	AppendAnnotations         func(b []byte, a *Annotations) []byte
	AppendTextBlock           func(b []byte, c *Block) []byte
	AppendImageBlock          func(b []byte, c *Block) []byte
	AppendAudioBlock          func(b []byte, c *Block) []byte
	AppendLinkBlock           func(b []byte, c *Block) []byte
	AppendResourceBlock       func(b []byte, c *Block) []byte
	AppendTextResource        func(b []byte, c *Block) []byte // contents of a resource, for Block.Resource
	AppendBlobResource        func(b []byte, c *Block) []byte
	AppendPromptList          func(b []byte, l *ItemList) []byte
	AppendPromptResult        func(b []byte, r *PromptResult) []byte
	AppendPromptMessage       func(b []byte, m *PromptMessage) []byte
	AppendResourceList        func(b []byte, l *ItemList) []byte
	AppendTemplateList        func(b []byte, l *ItemList) []byte
	AppendResource            func(b []byte, r *ListedResource) []byte
	AppendResourceResult      func(b []byte, r *ResourceResult) []byte
	AppendCompletion          func(b []byte, c *Completion) []byte
	AppendInputRequired       func(b []byte, r *InputRequired) []byte
	AppendListenResult        func(b []byte, r *ListenResult) []byte
	AppendTaskCreated         func(b []byte, t *TaskView) []byte
	AppendTask                func(b []byte, t *TaskView) []byte // as an element of a list; before 2026-07-28 also tasks/get and tasks/cancel
	AppendTaskDetail          func(b []byte, t *TaskView) []byte
	AppendTaskCancelled       func(b []byte, t *TaskView) []byte
	AppendTaskUpdated         func(b []byte, t *TaskView) []byte
	AppendTaskList            func(b []byte, l *TaskList) []byte
	AppendTaskStatus          func(b []byte, t *TaskView) []byte
	AppendProgress            func(b []byte, p *Progress) []byte
	AppendCancelled           func(b []byte, c *Cancelled) []byte
	AppendAcknowledged        func(b []byte, a *Acknowledged) []byte
	AppendChanged             func(b []byte, c *Changed) []byte // list_changed of all kinds; nil: they have no params
	AppendResourceUpdated     func(b []byte, u *ResourceUpdated) []byte
	AppendLog                 func(b []byte, l *LogMessage) []byte
	AppendElicit              func(b []byte, e *Elicit) []byte
	AppendElicitationComplete func(b []byte, e *ElicitationComplete) []byte // nil: the revision has no such notification
	AppendMissingCapability   func(b []byte, m *MissingCapability) []byte   // data of the error
	AppendUnsupportedVersion  func(b []byte, u *UnsupportedVersion) []byte  // data of the error
}

// Method is one request or notification that the client may send.
type Method struct {
	Name string
	Op   Op
	// Notification is true for messages without an answer.
	Notification bool
	// Uncancellable requests can not be cancelled by notification (CAN07).
	Uncancellable bool
	// Task says that the request may become a task: by its params (TSK02), or because the server says so (EXT03).
	Task bool
	// Declares is the server capability that goes with the method, declared when an OpMethod is served; "" for none.
	Declares string
	// Cacheable results carry how long they may be kept (EXT20).
	Cacheable bool
	// NoInput: the answer may not ask for input, so its handler can not ask the client (LET16).
	NoInput bool
	// EmptyList is the member of the result that is an empty list, of OpEmptyList.
	EmptyList string
	// Header is the member of the params that the name header of Streamable HTTP repeats (EXT14); "" for none.
	Header string
	// Blocks is where the result has content blocks, as a path in which * is every item of a list; "" for nowhere, and where the
	// revision has every type of them.
	Blocks string
	// Result is the definition of what the request is answered with; "": any object will do.
	Result string
	// Read reads the params; nil when the method has none that matter. It runs in the read loop, so it must not
	// decode what it can hand on raw. In a stateless revision every request has one that reads at least what ReadRequest
	// does; those of methods that may be answered by input required also read InputResponses, RequestState and what
	// tells one call from another: Name, URI, Arguments.
	Read func(d *check.Decoder, p *Params)
}

// Outgoing names one message that the server sends.
type Outgoing struct {
	Op   Op
	Name string
	// Capability is what a client has to declare to be asked, as a path like those of Capabilities; "" for messages that are not questions.
	Capability string
	// Needs are parts of it that some params take (EXT18).
	Needs []Need
}

// Need is a part of a client's capability that some params of a question take.
type Need struct {
	Capability string // a path; "": nobody can declare it, because the revision has nothing that takes such params
	// Member of the params takes it when its value is one of Values, or whatever its value is when there are none.
	Member string
	Values []string
	// Default: params without the member take it, too, and a client has it that declares the whole capability without a part
	// that another value of the member takes.
	Default bool
}

// Takes reports whether params whose member has the value take the part; nil: they do not have it.
func (n *Need) Takes(value []byte) bool {
	if value == nil {
		return n.Default
	}
	var text string
	return len(n.Values) == 0 || json.Unmarshal(value, &text) == nil && slices.Contains(n.Values, text)
}

// View is what a revision has of things that handlers and manifests write as the newest one has them. The rest is left out, or
// something else put in its place. Zero fields: it has all.
type View struct {
	// ToolOmits and ServerOmits are members of an advertised tool and of the server's name that it has not.
	ToolOmits, ServerOmits []string
	// ToolObjects are the paths in an advertised tool to members whose values are objects in it, and elsewhere schemas: true is {} there, and false
	// {"not":{}}.
	ToolObjects []string
	// PromptOmits, ResourceOmits and TemplateOmits are such members of what lists of prompts and resources show. Members of a prompt's arguments
	// are paths in which * is every item of a list.
	PromptOmits, ResourceOmits, TemplateOmits []string
	// Blocks are the types of content blocks that it has. Others become text.
	Blocks []string
	// FormKeywords are what fields of a form may say. A form with a list in it is not sent where items is none of them.
	FormKeywords []string
}

// Output makes a function for AppendOutput.
func Output[T any](appendTo func(b []byte, out *T) []byte) func(b []byte, out any) []byte {
	return func(b []byte, out any) []byte { return appendTo(b, out.(*T)) }
}

// TaskRules is what a revision says about tasks beyond the messages.
type TaskRules struct {
	// Edges are the transitions that the engine allows. A task can be read in every revision, so those that have tasks agree on them.
	Edges []Edges
	// ClientDecides: a call becomes a task where the client asks for one with a parameter of the request (TSK02).
	ClientDecides bool
	// ServerDecides: a call becomes a task where the tool allows it and the client declares Capabilities.ClientTasks (EXT03).
	ServerDecides bool
	// IsErrorFails: a tool result with isError makes the task failed (TSK12), not completed (EXT08).
	IsErrorFails bool
	// CancelForces: cancelling makes the task cancelled at once (TSK18), instead of asking the work to stop (EXT11).
	CancelForces bool
	// CancelTerminalRefused: cancelling a finished task is an error, not an acknowledgement.
	CancelTerminalRefused bool
	// QuestionsInline: questions are part of the task (EXT07) instead of requests to the client (TSK19).
	QuestionsInline bool
	// Progress: progress goes on for the life of the task (PRO03).
	Progress bool
}

// Edges are the transitions of a task out of one status.
type Edges struct {
	From task.Status
	To   []task.Status
}

// Transitions are the Edges one by one.
func (t *TaskRules) Transitions() (all []task.Edge) {
	for _, e := range t.Edges {
		for _, to := range e.To {
			all = append(all, task.Edge{From: e.From, To: to})
		}
	}
	return all
}

// Capabilities are the places of capability declarations, as paths of member names joined by slashes
// ("tasks/requests/tools/call"). A slash within a name is written ~1 and a tilde ~0, as in JSON Pointers
// ("extensions/io.modelcontextprotocol~1tasks"). "" means that the revision has no such capability.
type Capabilities struct {
	// Declared by the server.
	Tools, ToolsChanged string
	PromptsChanged      string
	ResourcesChanged    string
	ResourceUpdated     string // resources can be subscribed to
	Logging             string
	TaskList            string
	TaskCancel          string
	TaskCall            string
	Tasks               string // the extension, declared as {} (EXT01)
	// Extensions are the places of what the server has beyond the protocol, each declared as {}.
	Extensions []string
	// Declared by the client; what questions take of it is in Outgoing.
	ClientTasks  string // the extension
	RootsChanged string // it says so when its roots change; a boolean
}

// Codes are the codes of errors; 0 means that the revision has no such error.
type Codes struct {
	PromptNotFound         int
	ResourceNotFound       int
	URLElicitationRequired int
	MissingMeta            int
	HeaderMismatch         int
	MissingCapability      int
	UnsupportedVersion     int
}

// Meta are keys of _meta objects; "" means that the revision has none.
type Meta struct {
	ProtocolVersion string
	RelatedTask     string
	ServerInfo      string
}

// Own are names that the protocol defines for who serves it, in any revision. What a handler says under them in a result, or in the params
// of a request to the client, is left out.
type Own struct {
	Meta   []string // keys of _meta
	Result []string // members of results
}

// ResultRules names what every result carries (EXT20).
type ResultRules struct {
	// Type is the member that holds one of the three words that follow.
	Type                          string
	Complete, InputRequired, Task string
	// CacheTTL and CacheScope are members of cacheable results.
	CacheTTL, CacheScope string
}

// HTTP is what a revision says about Streamable HTTP. Headers that it does not have are "".
type HTTP struct {
	VersionHeader, SessionHeader, LastEventHeader string
	MethodHeader, NameHeader, ParamPrefix         string // EXT14
	// EncodedPrefix and EncodedSuffix surround header values that are base64.
	EncodedPrefix, EncodedSuffix string
	Statuses                     Statuses
	// Primed: streams of sessions begin with an event that has an id and no data. Clients of older revisions take it for a message.
	Primed bool
	// DisconnectCancels: the end of a response stream cancels its request (CAN18).
	DisconnectCancels bool
}

// Statuses are the HTTP statuses of errors; 0 is the transport's usual one.
type Statuses struct {
	MethodNotFound, MissingMeta, HeaderMismatch, MissingCapability, UnsupportedVersion int
}
