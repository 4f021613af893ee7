package server

import (
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Generation tells at compile time whether generated code fits this runtime: generated code names the constant of the generation that it was
// made for. A change after which older code would compile and mean something else replaces the constant by one with the next number.
type Generation int

// Generation1 is the generation that this runtime serves. If it is undefined, upgrade the module github.com/mcpkiln/mcpkiln; if New
// refuses it, run mcpkiln generate again.
const Generation1 Generation = 1

// Definition is what generated code knows about a server.
type Definition struct {
	Name, Title, Version string
	// Info is a JSON object with the other members of the server's info: description, websiteUrl, icons; "" for none.
	Info string
	// Instructions is shown to the client at initialize; "" for none.
	Instructions string
	// Runtime is the generation of generated code.
	Runtime Generation
	Tools   []Tool
	// AddedTasks is the policy of tools that AddTool adds, except Support, which is in the definition of each. nil: the server's
	// defaults, and no tasks if none of Tools runs as a task.
	AddedTasks *TaskPolicy
	// Methods serve requests other than those for tools and tasks; a revision that has no OpMethod of a handler's name does not use the handler.
	Methods []MethodHandler
	// Notices handle clients' notifications that the protocol does not define; each has an OpNotice in every revision.
	Notices []NoticeHandler
	// Prompts, Resources and Templates are the registries. A revision that has methods for one serves it, even if it is empty.
	Prompts   []Prompt
	Resources []Resource
	Templates []ResourceTemplate
	Revisions []*wire.Revision
}

// Tool is one tool: how it is advertised, called, cancelled and run as a task.
type Tool struct {
	Name string
	// Definition is the advertised JSON object, sent as it is (VAL08).
	Definition string
	// Execution is the JSON object that is added to it as the member wire.Revision.ToolExecution; "" for none.
	Execution string
	Handler   Handler
	Cancel    CancelPolicy
	Task      TaskPolicy
	// MaxConcurrent is how many runs of the tool there may be at once in this process, inline and tasks together; 0: any number.
	// Others wait for one to end, within their timeout.
	MaxConcurrent int
	// slots are those of the runs; nil: any number. New makes it.
	slots *toolSlots
	// mark tells it from other tools that had its name, or will have it; see toolsOfTasks.
	mark string
	// calls has what calls of the tool share. It is made with mark.
	calls *sharedByCalls
	// Before are the questions that are asked before the call becomes a task, where the revision can: made with
	// Question.Before, in the order of asking. The handler asks them too and gets the recorded answers.
	Before []BeforeQuestion
	// MustAsk says that the handler has a question with OnUnsupported Fail. The messages of a call wait for its end if the client can not
	// be asked and the refusal has an HTTP status of its own (LET20).
	MustAsk bool
	// ClientCapabilities are the client capabilities that custom requests of the handler (Send) require, named as in UnsupportedError, an
	// extension by its name. If the client lacks one, the messages of the call wait, as with MustAsk; Send refuses requests that require a
	// capability that is not listed. nil: any request may be made, and no message waits for it.
	ClientCapabilities []string
}

// sharedByCalls is what calls of one tool share.
type sharedByCalls struct {
	kinds atomic.Pointer[toolKind] // see Tool.kind
	meta  atomic.Pointer[[]byte]   // what its last task has as its Meta; see request.sharedMeta
}

// CancelPolicy says when a call of a tool ends before it is done.
type CancelPolicy struct {
	// Timeout is counted per call (CAN20), without the time in which a question is open; 0 means none. Runs as a task have TaskPolicy.Timeout instead.
	Timeout time.Duration
	// Uncancellable says that a cancellation by the client is recorded and ignored (CAN14).
	Uncancellable bool
	// Because is the reason, for people.
	Because string
}

// TaskSupport says whether a tool runs as a task (TSK03).
type TaskSupport uint8

// The zero value forbids tasks.
const (
	TaskForbidden TaskSupport = iota
	TaskOptional
	TaskRequired
)

// TaskPolicy says how a tool runs as a task. Zero durations mean the server's defaults.
type TaskPolicy struct {
	Support TaskSupport
	// TTL is how long a task is kept when the request says nothing; MaxTTL bounds what it may ask for.
	TTL, MaxTTL time.Duration
	// PollInterval is advertised to clients.
	PollInterval time.Duration
	// Timeout ends the work, without the time in which a question is open; 0 means none but the task's expiry. It counts all runs of
	// the task together.
	Timeout time.Duration
	OnCrash OnCrash
	// MaxReruns is how often a task begins again after the process that ran it died, before it fails; 0 means 3.
	MaxReruns int
}

// OnCrash says what becomes of a task that is not done when its process dies, or when the grace period after a shutdown is over.
type OnCrash uint8

// The zero value is for handlers that may run again from the top.
const (
	// RerunOnCrash has the task of a durable store begin again, here or elsewhere. Its recorded answers and steps are kept.
	RerunOnCrash OnCrash = iota
	// FailOnCrash ends the task as failed.
	FailOnCrash
)

// reruns is task.Spec.Reruns.
func (p *TaskPolicy) reruns() int {
	if p.OnCrash == FailOnCrash {
		return -1
	}
	return p.MaxReruns
}
