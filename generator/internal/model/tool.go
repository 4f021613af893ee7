package model

import (
	"cmp"
	"time"
)

// Tool is one tool with every decision made.
type Tool struct {
	Name       string   // get_quote
	GoName     string   // GetQuote: the method
	Doc        []string // the description; it may contain anything, so only the comment writer of emit may print it
	Definition string   // the advertised JSON object, compact
	Execution  string   // the member execution of a tool, for revisions that have it, as compact JSON; empty for none
	Input      TypeRef
	Output     *TypeRef // nil: the result is of type Package.Result
	Cancel     CancelPolicy
	Task       TaskPolicy
	// MaxConcurrent is how many runs there may be at once; 0: any number.
	MaxConcurrent int
	Asker
	Var    string   // getQuoteTool: the variable of the client package that describes the tool
	Policy []string // what the policies mean, in sentences
}

// Asker says what a handler may ask its client: questions of the manifest, and requests that it sends itself.
type Asker struct {
	Of        string // the tool or entry that the handler is for, in words for people: import_orders, the prompt review_code
	Call      string // type of the handler's parameter call: ImportOrdersCall, with a method for each question; empty: server.Call
	Questions []*Question
	// ClientCapabilities are the client capabilities that the requests which the handler sends itself need; nil: the manifest names none.
	ClientCapabilities []string
}

// CancelPolicy is server.CancelPolicy. Zero is no timeout.
type CancelPolicy struct {
	Timeout       time.Duration
	Uncancellable bool
	Because       string
}

// TaskSupport is server.TaskSupport.
type TaskSupport uint8

// Whether a tool runs as a task.
const (
	TaskForbidden TaskSupport = iota
	TaskOptional
	TaskRequired
)

// TaskPolicy is server.TaskPolicy. Zero durations are the runtime's defaults.
type TaskPolicy struct {
	Support                            TaskSupport
	TTL, MaxTTL, PollInterval, Timeout time.Duration
	FailOnCrash                        bool
	MaxReruns                          int
}

// defaultReruns is the runtime's default of MaxReruns.
const defaultReruns = 3

// Reruns is how often a task is run again after its process died.
func (p *TaskPolicy) Reruns() int {
	if p.FailOnCrash {
		return 0
	}
	return cmp.Or(p.MaxReruns, defaultReruns)
}

// OnUnsupported is server.OnUnsupported: what the handler gets for a question when the client can not ask its user.
type OnUnsupported uint8

// An error, an answer that declines, or an answer of the schema's defaults.
const (
	Fail OnUnsupported = iota
	Decline
	UseDefault
)

// Question is one thing a handler may ask the user.
type Question struct {
	Name          string // confirmOverwrite
	GoName        string // ConfirmOverwrite: the method of the call
	Ident         string // importOrdersConfirmOverwrite: the variable
	Message       string
	Doc           []string // what the method's doc says, in lines
	Schema        string   // compact JSON, as it is sent
	Timeout       time.Duration
	OnUnsupported OnUnsupported
	BeforeTask    bool // asked before the call becomes a task, where the revision can
	Answer        TypeRef
	Default       Literal // for UseDefault: the answer
}

// Short writes a duration without zero parts: 2h, not 2h0m0s.
func Short(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if len(s) > len(zero) && s[len(s)-len(zero):] == zero {
			s = s[:len(s)-len(zero)+1]
		}
	}
	return s
}
