package wire

import (
	"encoding/json"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Revision is one protocol revision as generated code describes it: the methods, and one function per message that
// reads or appends it. A Revision is read-only once server.New has it.
//
// Append functions follow one rule: an optional slot whose field is zero (nil, "", 0, false) is left out, a required
// slot is always written. Raw fields ([]byte) hold complete JSON values. Fields of type rpc.ID, Millis and Time are
// written with their own AppendJSON(b []byte) []byte.
type Revision struct {
	// Version is the protocol version as it is negotiated, such as "2025-11-25".
	Version string
	// Handshake says that the revision begins with initialize. Otherwise it is stateless: each request names its revision and the
	// capabilities of its client in _meta.
	Handshake bool
	// Batches says that an array of messages is received, and answered by an array (CAN24). Other revisions refuse it.
	Batches bool
	// Methods are the requests and notifications that the client may send, sorted by name.
	Methods []Method
	// Outgoing are the requests, input requests and notifications that the server may send. Others are neither
	// sent nor declared.
	Outgoing []Outgoing
	// Task is the revision's part of the task state machine; zero when it has no tasks or no tool runs as one.
	Task TaskRules
	// Capabilities says where capabilities are declared.
	Capabilities Capabilities
	// ToolExecution is the member of an advertised tool that holds Tool.Execution; "" when the revision has none.
	ToolExecution string
	// View says what this revision lacks of newer ones.
	View View
	// Codes are the error codes that revisions differ in.
	Codes Codes
	// Meta has the _meta keys that the runtime itself reads or writes.
	Meta Meta
	// Result names the members of every result; zero before 2026-07-28.
	Result ResultRules
	// Own are the names under which handlers can not set values (LET01).
	Own Own
	// HTTP is what the revision says about Streamable HTTP.
	HTTP HTTP

	// TaskCreated is the name of the Definition of a result that is a task; "" where no request has one.
	TaskCreated string
	// Definitions are those of results, and those that they refer to, sorted by name. They validate results that middleware
	// made instead of a handler (LET01).
	Definitions []Definition
	// Inherits are definitions of a newer revision, sorted by name. They apply here, too, unless Definitions has one of the same name.
	Inherits []Definition

	// ReadRequest reads the params that every request has (the message request in rules.yaml); nil before 2026-07-28.
	ReadRequest func(d *check.Decoder, p *Params)
	// ReadTaskParams reads the value of Params.Task, if the call becomes a task; nil except in 2025-11-25.
	ReadTaskParams func(d *check.Decoder, p *Params)
	// ReadElicitResult reads the client's answer to a question to the user.
	ReadElicitResult func(d *check.Decoder, r *ElicitResult)
	// ReadCallResult reads a whole tool result, for tools whose output is the protocol's own result type; nil if
	// there are none.
	ReadCallResult func(d *check.Decoder, r *CallResult)
	// CheckCallResult validates the result of such a tool by the protocol's schema (LET01). nil: it may be any JSON.
	CheckCallResult func(d *check.Decoder)

	// AppendOutput writes the result of such a tool, in revisions that lack some members of it; nil: the tool's own function does.
	AppendOutput func(b []byte, out any) []byte

	AppendInitializeResult func(b []byte, r *InitializeResult) []byte
	AppendDiscoverResult   func(b []byte, r *DiscoverResult) []byte
	AppendToolList         func(b []byte, l *ToolList) []byte
	AppendCallResult       func(b []byte, r *CallResult) []byte
	// Content blocks, and their parts; nil: the revision has no such block, and a text block replaces it.
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
	AppendTask                func(b []byte, t *TaskView) []byte // an item of a list; before 2026-07-28 also the result of tasks/get and tasks/cancel
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
	// Declares is the path of the server's capability that is declared when a handler serves the method (OpMethod); "" for none.
	Declares string
	// Cacheable says that results have members for how long they may be cached (EXT20).
	Cacheable bool
	// NoInput says that the answer must not ask for input, so the method's handler can not ask the client (LET16).
	NoInput bool
	// EmptyList is, for OpEmptyList, the member of the result that is an empty list.
	EmptyList string
	// Header is the member of the params that HTTP.NameHeader repeats (EXT14); "" for none.
	Header string
	// Blocks is where the result has content blocks, as a path in which * is every item of a list; "" if it has none, or if the
	// revision has every type of them, so that none is replaced.
	Blocks string
	// Result is the name of the Definition of the request's result; "": it may be any object.
	Result string
	// Read reads the params; nil if the runtime uses none of the method's. It runs in the read loop, so it must not
	// decode what it can pass on raw. In a stateless revision every request has a Read that reads at least what ReadRequest
	// does; that of a method whose answer may ask for input also reads InputResponses, RequestState and the params
	// that tell calls apart: Name, URI, Arguments.
	Read func(d *check.Decoder, p *Params)
}

// Outgoing is one message that the server may send.
type Outgoing struct {
	Op   Op
	Name string
	// Capability is the path of the capability that a client has to declare to be asked the question; "" for messages that are not questions.
	Capability string
	// Needs are the parts of the capability that some params need (EXT18).
	Needs []Need
}

// Need is a part of a client's capability that some params of a question need.
type Need struct {
	Capability string // a path; "": nobody can declare it, because the revision does not have such params
	// Params need the part if the value of their member Member is one of Values, or if they have the member and Values is empty.
	Member string
	Values []string
	// Default says that params without the member need the part, too. A client that declares the capability, but no part that other values of
	// the member need, has this part without declaring it.
	Default bool
}

// Applies reports whether params need the part if their member has the value; nil: they do not have the member.
func (n *Need) Applies(value []byte) bool {
	if value == nil {
		return n.Default
	}
	var text string
	return len(n.Values) == 0 || json.Unmarshal(value, &text) == nil && slices.Contains(n.Values, text)
}

// View says what a revision lacks: handlers and manifests are written for the newest one, and what an older one does not have is left out or
// replaced. A field is zero if the revision lacks nothing of its kind.
type View struct {
	// ToolOmits and ServerOmits are members of an advertised tool and of serverInfo that the revision does not have.
	ToolOmits, ServerOmits []string
	// ToolObjects are the paths in an advertised tool to objects whose members' values must be objects in this revision, and may be any schema in
	// others: true becomes {}, and false {"not":{}}.
	ToolObjects []string
	// PromptOmits, ResourceOmits and TemplateOmits are members of listed prompts, resources and templates that the revision does not have. Members of a
	// prompt's arguments are paths in which * is every item of a list.
	PromptOmits, ResourceOmits, TemplateOmits []string
	// Blocks are the types of content blocks that the revision has. Others become text.
	Blocks []string
	// FormKeywords are the keywords that fields of a form may have. A form with a field that is a list is not sent if items is none of them.
	FormKeywords []string
}

// Output returns a function for AppendOutput.
func Output[T any](appendTo func(b []byte, out *T) []byte) func(b []byte, out any) []byte {
	return func(b []byte, out any) []byte { return appendTo(b, out.(*T)) }
}

// TaskRules is what a revision says about tasks beyond the messages.
type TaskRules struct {
	// Edges are the transitions that package task allows. A task can be read in every revision, so the revisions that have tasks agree on them.
	Edges []Edges
	// ClientDecides says that a call becomes a task where the client asks for one with a parameter of the request (TSK02).
	ClientDecides bool
	// ServerDecides says that a call becomes a task where the tool allows it and the client declares Capabilities.ClientTasks (EXT03).
	ServerDecides bool
	// IsErrorFails says that a tool result with isError makes the task failed (TSK12), not completed (EXT08).
	IsErrorFails bool
	// CancelForces says that cancelling makes the task cancelled at once (TSK18), instead of asking the work to stop (EXT11).
	CancelForces bool
	// CancelTerminalRefused says that cancelling a finished task is an error; otherwise it is acknowledged.
	CancelTerminalRefused bool
	// QuestionsInline says that questions are part of the task (EXT07) instead of requests to the client (TSK19).
	QuestionsInline bool
	// Progress says that progress notifications go on for the life of the task (PRO03).
	Progress bool
}

// Edges are the transitions of a task out of one status.
type Edges struct {
	From task.Status
	To   []task.Status
}

// Transitions returns each transition of Edges by itself.
func (t *TaskRules) Transitions() (all []task.Edge) {
	for _, e := range t.Edges {
		for _, to := range e.To {
			all = append(all, task.Edge{From: e.From, To: to})
		}
	}
	return all
}

// Capabilities are the paths at which capabilities are declared: member names joined by slashes
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
	Tasks               string // the extension for tasks, declared as {} (EXT01)
	// Extensions are the paths of the server's own extensions of the protocol, each declared as {}.
	Extensions []string
	// Declared by the client; those that questions need are in Outgoing.
	ClientTasks  string // the extension for tasks
	RootsChanged string // a boolean: the client sends a notification when its roots change
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

// Own are names that the protocol, in any revision, reserves for the server's runtime. Values that a handler sets under them in a result, or in the
// params of a request to the client, are left out.
type Own struct {
	Meta   []string // keys of _meta
	Result []string // members of results
}

// ResultRules names the members of every result (EXT20).
type ResultRules struct {
	// Type is the member that says which kind of result it is, by one of the three values that follow.
	Type                          string
	Complete, InputRequired, Task string
	// CacheTTL and CacheScope are members of cacheable results.
	CacheTTL, CacheScope string
}

// HTTP is what a revision says about Streamable HTTP. The names of headers that the revision does not have are "".
type HTTP struct {
	VersionHeader, SessionHeader, LastEventHeader string
	MethodHeader, NameHeader, ParamPrefix         string // EXT14
	// EncodedPrefix and EncodedSuffix surround header values that are base64.
	EncodedPrefix, EncodedSuffix string
	Statuses                     Statuses
	// Primed says that streams of sessions begin with an event that has an id and no data. Clients of older revisions would take it for a message.
	Primed bool
	// DisconnectCancels says that the end of a response stream cancels its request (CAN18).
	DisconnectCancels bool
}

// Statuses are the HTTP statuses of errors; 0 is the transport's usual one.
type Statuses struct {
	MethodNotFound, MissingMeta, HeaderMismatch, MissingCapability, UnsupportedVersion int
}
