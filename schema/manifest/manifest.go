package manifest

import (
	"time"

	"github.com/mcpkiln/mcpkiln/schema"
)

// Manifest is a mcpkiln.yaml, or a saved tools/list answer, after loading. A key that was not written is a zero value with
// a nil Node.
type Manifest struct {
	File string
	Root *schema.Node

	Version   *schema.Node
	Revisions []Text // protocol.revisions as written; empty when not given
	Folders   []Text // protocol.folders: each has a revision of the user's own
	Server    Server
	Go        Go
	Defaults  Defaults
	Schemas   *schema.Library // never nil
	Tools     []Tool          // in source order
	Methods   []Text          // requests of the protocol beside tools that the server's Handlers serve
	// CustomMethods and Extensions, which are the names of the server's extensions, are in source order.
	CustomMethods []CustomMethod
	Extensions    []Text
	// Registries, in source order.
	Prompts           []Prompt
	Resources         []Resource
	ResourceTemplates []ResourceTemplate
	Answer            bool // made from a tools/list answer
	// Classes are classes of changes, by id, where mcpkiln diff is to use another one than the default.
	Classes map[string]Class
}

// Text is a string of the manifest and the value it was read from.
type Text struct {
	Value string
	Node  *schema.Node
}

// Flag is a boolean of the manifest.
type Flag struct {
	Value bool
	Node  *schema.Node
}

// Duration is a positive length of time, written as in Go: 90s, 1h30m.
type Duration struct {
	Value time.Duration
	Node  *schema.Node
}

// Or returns the value, or other if nothing was written.
func (d Duration) Or(other time.Duration) time.Duration {
	if d.Node == nil {
		return other
	}
	return d.Value
}

// Server describes the server: the protocol's Implementation, and the instructions for the model.
type Server struct {
	Node         *schema.Node
	Name         Text
	Version      Text
	Title        Text
	Description  Text
	Instructions Text
	WebsiteURL   Text
	Icons        *schema.Node
}

// Go says which packages are generated, and in which directories, relative to the manifest. With Client and without Out only a client is generated.
type Go struct {
	Node    *schema.Node
	Package Text
	Out     Text
	Client  Text
}

// Defaults apply to each tool that does not set the same itself.
type Defaults struct {
	GoTypes map[string]string // of strings by their format, of integers and of numbers: time.Time for date-time
	Node    *schema.Node
	Timeout Duration
	Task    TaskTimes
}

// TaskTimes are the durations of a tool's tasks.
type TaskTimes struct {
	TTL          Duration
	MaxTTL       Duration
	PollInterval Duration
}

// Tool is one tool: its definition in the protocol, and how its calls run.
type Tool struct {
	Name string
	Pos  schema.Position // of the name
	Node *schema.Node    // the whole entry

	GoName       Text // of the method; types begin with it
	Title        Text
	Description  Text
	Annotations  *schema.Node
	Icons        *schema.Node
	Meta         *schema.Node
	Input        *schema.Document
	Output       *schema.Document // nil if the tool has no outputSchema
	Execution    Execution
	Timeout      Duration // of an inline call
	Cancellation Cancellation
	Elicitations []Elicitation
	// ClientCapabilities are those that the requests which the handler sends need (LET20); nil: the manifest says nothing of them.
	ClientCapabilities []Text
}

// Support says whether a tool runs as a task; the values are the protocol's.
type Support string

// What execution.taskSupport may say; empty means the same as forbidden.
const (
	Forbidden Support = "forbidden"
	Optional  Support = "optional"
	Required  Support = "required"
)

// Execution is how a tool runs, especially as a task.
type Execution struct {
	Node    *schema.Node
	Support Support
	TaskTimes
	Timeout Duration // of the task's work
	// MaxConcurrent is how many runs there may be at once, inline and tasks together; 0: any number.
	MaxConcurrent int
	OnCrash       OnCrash
	// MaxReruns is how often a task is run again after a crash; 0: the runtime's default.
	MaxReruns int
}

// OnCrash says what happens to a task whose process dies or is stopped before the task is done; empty means rerun.
type OnCrash string

// What execution.onCrash may say.
const (
	FailOnCrash  OnCrash = "fail"
	RerunOnCrash OnCrash = "rerun"
)

// Tasks reports whether the tool can run as a task.
func (e Execution) Tasks() bool { return e.Support == Optional || e.Support == Required }

// neverTask reports whether the tool never runs as a task. It is false if the value of taskSupport was wrong, which has been reported.
func (e Execution) neverTask() bool {
	return !e.Tasks() && (e.Support != "" || e.Node.Get("taskSupport") == nil)
}

// Cancellation says whether a call may be cancelled (CAN14). A tool whose calls may not be cancelled must have no timeout and inherits none.
type Cancellation struct {
	Node    *schema.Node
	None    bool
	Because Text
}

// OnUnsupported is what happens to a question when the client can not ask its user.
type OnUnsupported string

// What onUnsupported may say; empty means fail.
const (
	Fail    OnUnsupported = "fail"
	Decline OnUnsupported = "decline"
	Default OnUnsupported = "default"
)

// Elicitation is a question that a tool may ask.
type Elicitation struct {
	Name          string
	Pos           schema.Position
	Node          *schema.Node
	GoName        Text // of the method that asks
	Message       Text
	Schema        *schema.Document
	Timeout       Duration
	OnUnsupported OnUnsupported
	BeforeTask    Flag // asked before the call becomes a task
}
