package client

import (
	"context"
	"encoding/json"
)

// Handlers answer a server's questions, also those that it asks as tasks, and receive its notifications. Every field may be nil. Handlers of questions are
// called concurrently, each in a goroutine of its own; those of notifications in the order of arrival, on one goroutine for all of a session. A notification
// is dropped if an equal one waits for that goroutine, or if 1024 or 16 MiB wait and it does not say that a list has changed.
//
// If a handler of questions fails, the server learns only that it has failed, and the log says why. An *Error is sent as it is, unless its code is one that
// the protocol reserves.
type Handlers struct {
	// Elicit asks the user to fill in a form. The user has to see which server asks, and can review, decline and cancel. Answers are
	// validated by the form's schema, and defaults are filled in, before they are sent.
	Elicit func(ctx context.Context, q *Question) (*Answer, error)
	// OpenURL asks the user to open a web page. It must show all of Question.URL and its host, and fetch nothing before the user agrees.
	OpenURL func(ctx context.Context, q *Question) (*Answer, error)
	// Sample asks a model; Question.Params is the request, and Sample returns the result: one that breaks the schema of the revision, or uses tools though the
	// request has none, is not sent. Without consent of the user, return ErrRejected.
	Sample func(ctx context.Context, q *Question) (json.RawMessage, error)
	// SampleTools and SampleContext say that Sample supports tools, and context of servers.
	SampleTools, SampleContext bool
	// Roots lists the directories that the server may use.
	Roots func(ctx context.Context, q *Question) ([]Root, error)
	// QuestionGone is called when a question is not to be answered any more: the server cancelled it, the call or task that it belongs to
	// is over, its time passed, nobody follows the task any more, or the session ended, as cause says. A user interface closes it then.
	QuestionGone func(q *Question, cause error)
	// LeftOpen is called with a question of a task that this session has resumed and did not start, or started with LeaveOpen, if no handler can be asked, or the handler has failed;
	// why says which. The question is not answered and the task goes on: the host that started it may answer. q has what could be read of the question, and
	// no Method if the server does not show the question, because this session has not declared what the task asks.
	LeftOpen func(q *Question, why error)
	// Answered is called when it is known what has become of the answer to a question of a task, or to one that came as a request. err is nil if the server
	// has it, and an *UnconfirmedError if that is not known. Else it could not be sent, because it breaks the form or the handler has failed, or not be delivered, or it came too late: then err is a *Cause of source peer, also if an earlier attempt to send it has failed. If a task has withdrawn
	// the question meanwhile, that is known only some seconds later, since the task may ask again. The answer to a question that the server asks as a task is
	// the result of that task: the server has it when it has fetched that. If it never does, Answered is called when the task is forgotten. For the questions
	// of a result, whose answers go with the next request of the call, Answered is called only if the answer is not sent. Over a pipe the server "has" an
	// answer as soon as that is written: whether the server reads it is not known.
	Answered func(q *Question, err error)

	// Log receives log records: the level, the name of the logger, and any JSON.
	Log func(level, logger string, data json.RawMessage)
	// ListChanged is called when a list has changed.
	ListChanged func(list List)
	// ResourceUpdated is called when a resource has changed that Subscribe or Listen named.
	ResourceUpdated func(uri string)
	// ToolDiffers is called, once for each, with the differences between the server's tools and what a generated client knows, see Session.Expect.
	ToolDiffers func(d Difference)
	// PageDone is called when the user has finished on a page, with its Question.ElicitationID. Ignore unknown ids.
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
