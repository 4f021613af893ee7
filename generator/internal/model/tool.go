package model

import (
	"cmp"
	"time"
)

// Tool is one tool with every decision made.
type Tool struct {
	Name       string   // get_quote
	GoName     string   // GetQuote: the method
	Doc        []string // the description; lines by others, never to be emitted without the comment helper
	Definition string   // the advertised JSON object, compact
	Execution  string   // compact JSON for revisions that advertise running as a task; empty for none
	Input      TypeRef
	Output     *TypeRef // nil: the tool answers with Package.Result
	Cancel     CancelPolicy
	Task       TaskPolicy
	// MaxConcurrent is how many runs there may be at once; 0: any number.
	MaxConcurrent int
	Asker
	Var    string   // getQuoteTool: what a client knows of it
	Policy []string // what the policies mean, in sentences
}

// Asker is a handler that may ask the user.
type Asker struct {
	Of        string // what it is of, for people: import_orders, the prompt review_code
	Call      string // ImportOrdersCall, of a handler with questions; empty: *server.Call
	Questions []*Question
	// ClientCapabilities are what its own requests take of the client; nil: nothing is said of them.
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

// defaultReruns is that of the runtime.
const defaultReruns = 3

// Reruns is how often a task begins again after its process died.
func (p *TaskPolicy) Reruns() int {
	if p.FailOnCrash {
		return 0
	}
	return cmp.Or(p.MaxReruns, defaultReruns)
}

// OnUnsupported is server.OnUnsupported: what happens to a question when the client can not ask its user.
type OnUnsupported uint8

// The ways to go on.
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
	BeforeTask    bool // asked before a task is made of the call, where the revision can
	Answer        TypeRef
	Default       Literal // for UseDefault: the answer that is taken
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
