package client

import (
	"context"
	"encoding/json"
)

// Handlers answer what a server asks, also where it asks in the form of a task, and hear what it tells. Every field may be nil. They are called concurrently, questions each in a
// goroutine of its own, notifications in the order of their arrival on one goroutine for all of a session. A notification that waits for that
// stands for all that say the same, and where 1024 wait or 16 MiB, others than changes of lists are dropped.
type Handlers struct {
	// Elicit asks the user to fill in a form. The user has to see which server asks, and can review, decline and cancel. Answers are
	// held against the form's schema, and defaults are filled in, before they are sent.
	Elicit func(ctx context.Context, q *Question) (*Answer, error)
	// OpenURL asks the user to open a web page; Question.URL is shown whole with its host, and nothing is fetched before the user agrees.
	OpenURL func(ctx context.Context, q *Question) (*Answer, error)
	// Sample asks a model; Question.Params is the request and what it returns the result. Without consent of the user, return
	// ErrRejected.
	Sample func(ctx context.Context, q *Question) (json.RawMessage, error)
	// SampleTools and SampleContext: Sample takes tools, and context of servers.
	SampleTools, SampleContext bool
	// Roots lists the directories that the server may use.
	Roots func(ctx context.Context, q *Question) ([]Root, error)
	// QuestionGone hears that nobody waits for an answer any more: the server took the question back, the call or task that it belongs to
	// is over, its time passed, or the session ended, which cause says. A user interface closes it then.
	QuestionGone func(q *Question, cause error)

	// Log hears log records: the level, the name of the logger, and any JSON.
	Log func(level, logger string, data json.RawMessage)
	// ListChanged hears that a list has changed: ToolsChanged, PromptsChanged or ResourcesChanged.
	ListChanged func(list List)
	// ResourceUpdated hears that a resource has changed that Subscribe or Listen named.
	ResourceUpdated func(uri string)
	// ToolDiffers hears, once of each, how the server's tools differ from what a generated client knows, see Session.Expect.
	ToolDiffers func(d Difference)
	// PageDone hears that what a page was opened for is done, by Question.ElicitationID. Ids that nobody knows are to be ignored.
	PageDone func(elicitationID string)
}

// List is one of the lists of a server.
type List string

// The lists.
const (
	Tools     List = "tools"
	Prompts   List = "prompts"
	Resources List = "resources"
)

// Root is a directory or file that a server may use.
type Root struct {
	URI  string `json:"uri"` // file://…
	Name string `json:"name,omitempty"`
}
