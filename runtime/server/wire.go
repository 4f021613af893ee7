package server

import (
	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Op says what the runtime does with a method, or which of its own messages it sends. Names on the wire come from the
// Wire; the runtime knows operations only (REV04).
type Op uint8

// The operations. OpNone marks a method that the runtime does nothing with; as a request it is answered as unknown.
const (
	OpNone Op = iota
	OpInitialize
	OpInitialized
	OpPing
	OpCancelled
	OpProgress
	OpListTools
	OpCallTool
	OpGetTask
	OpTaskResult
	OpListTasks
	OpCancelTask
	OpTaskStatus
	OpElicit
	OpIgnore // known, nothing to do
	opCount
)

// Wire is one protocol revision as generated code describes it: the methods, and one function per message that
// reads or appends it. A Wire is read-only after New.
//
// Append functions follow one rule: an optional slot whose field is zero (nil, "", 0, false) is left out, a required
// slot is always written. Raw fields ([]byte) hold complete JSON values. Fields of type rpc.ID, Millis and Time are
// written with their own AppendJSON(b []byte) []byte.
type Wire struct {
	// Revision is the protocol version as it is negotiated, such as "2025-11-25".
	Revision string
	// Handshake says that the revision begins with initialize.
	Handshake bool
	// Methods are the requests and notifications that the client may send, sorted by name.
	Methods []Method
	// Outgoing are the requests and notifications that the server may send.
	Outgoing []Outgoing
	// Task is the revision's part of the task state machine; zero when it has no tasks or no tool runs as one.
	Task TaskRules
	// Capabilities says where capabilities are declared.
	Capabilities Capabilities

	// ReadElicitResult reads the client's answer to a question.
	ReadElicitResult func(d *check.Decoder, r *ElicitResult)
	// ReadCallResult takes a whole tool result apart, for tools that build the protocol's own result type; nil when
	// there are none.
	ReadCallResult func(d *check.Decoder, r *CallResult)

	AppendInitializeResult func(b []byte, r *InitializeResult) []byte
	AppendToolList         func(b []byte, l *ToolList) []byte
	AppendCallResult       func(b []byte, r *CallResult) []byte
	AppendTaskCreated      func(b []byte, t *TaskView) []byte
	AppendTask             func(b []byte, t *TaskView) []byte
	AppendTaskList         func(b []byte, l *TaskList) []byte
	AppendTaskStatus       func(b []byte, t *TaskView) []byte
	AppendProgress         func(b []byte, p *Progress) []byte
	AppendCancelled        func(b []byte, c *Cancelled) []byte
	AppendElicit           func(b []byte, e *Elicit) []byte
}

// Method is one request or notification that the client may send.
type Method struct {
	Name string
	Op   Op
	// Notification is true for messages without an answer.
	Notification bool
	// Uncancellable requests can not be cancelled by notification (CAN07).
	Uncancellable bool
	// Task says that the request may be augmented with a task (TSK02).
	Task bool
	// Read reads the params; nil when the method has none that matter. It runs in the read loop, so it must not
	// decode what it can hand on raw.
	Read func(d *check.Decoder, p *Params)
}

// Outgoing names one message that the server sends.
type Outgoing struct {
	Op   Op
	Name string
}

// TaskRules is what a revision says about tasks beyond the messages.
type TaskRules struct {
	// Edges are the allowed transitions; New refuses a Wire whose edges the task engine does not have.
	Edges []TaskEdge
	// ByParam: the requestor asks for a task with a parameter of the request.
	ByParam bool
	// IsErrorFails: a tool result with isError makes the task failed (TSK12), not completed.
	IsErrorFails bool
	// CancelForces: cancelling makes the task cancelled at once (TSK18), instead of asking the work to stop.
	CancelForces bool
	// CancelTerminalRefused: cancelling a finished task is an error, not an acknowledgement.
	CancelTerminalRefused bool
	// Progress: progress goes on for the life of the task (PRO03).
	Progress bool
}

// TaskEdge is one allowed transition.
type TaskEdge struct{ From, To task.Status }

// Capabilities are the places of capability declarations, as paths of member names joined by slashes
// ("tasks/requests/tools/call"); "" means that the revision has no such capability.
type Capabilities struct {
	// Declared by the server.
	Tools, TaskList, TaskCancel, TaskCall string
	// Declared by the client. A client with Elicit but neither of the two others takes forms.
	Elicit, ElicitForm, ElicitURL string
}

// Params holds what any request or notification of the client may say. Read functions fill the fields that the
// method's params have. Raw fields alias the received frame: they are valid until the read function's caller has
// dispatched the message, and are copied where they live longer.
type Params struct {
	// initialize
	ProtocolVersion string
	Capabilities    []byte // raw object
	ClientInfo      []byte // raw object
	// lists
	Cursor string
	// tools/call
	Name          string
	Arguments     []byte // raw object, nil when absent
	Task          bool   // the task member is present
	TTL           int64  // milliseconds, as asked; meaningful when HasTTL
	HasTTL        bool
	ProgressToken rpc.ID // zero when absent
	// tasks
	TaskID string
	// notifications/cancelled
	RequestID rpc.ID // zero when absent or not an id
	Reason    string
}

// InitializeResult answers the handshake.
type InitializeResult struct {
	ProtocolVersion string
	Capabilities    []byte // raw object
	ServerInfo      []byte // raw object
	Instructions    string
}

// ToolList is one page of tools.
type ToolList struct {
	Tools      []byte // raw array
	NextCursor string
}

// CallResult is the outcome of a tool in the protocol's terms.
type CallResult struct {
	Content           []byte // raw array
	StructuredContent []byte // raw object, nil for none
	IsError           bool
	// Meta is a raw object with the members that the tool put under _meta, nil for none. AppendMembers splices them.
	Meta []byte
	// RelatedTask is the id of the task that the result belongs to (TSK13).
	RelatedTask string
}

// TaskView is a task as one revision shows it.
type TaskView struct {
	ID            string
	Status        string
	StatusMessage string
	CreatedAt     Time
	LastUpdatedAt Time
	TTL           Millis // negative: unlimited, written as null
	PollInterval  Millis // 0: not said
}

// TaskList is one page of tasks.
type TaskList struct {
	Tasks      []byte // raw array of what AppendTask wrote
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

// Cancelled tells the client that the server gave up a request of its own (CAN19).
type Cancelled struct {
	RequestID rpc.ID
	Reason    string
}

// Elicit is a question to the user.
type Elicit struct {
	Message         string
	RequestedSchema []byte // raw object
	RelatedTask     string
}

// ElicitResult is the client's answer to a question.
type ElicitResult struct {
	Action  string
	Content []byte // raw object, nil when absent
}
