package server

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/address"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// ResourceError says that there is no such resource. Its code depends on the revision.
type ResourceError struct{ URI string }

// Error implements error.
func (e *ResourceError) Error() string { return "unknown resource " + rpc.Cut(e.URI) }

// URLElicitationError says that a request can not be served before the user has done something on web pages. A client that declares that it opens
// pages gets the revision's error for that, and tries again, or where the revision has no such error, the text with the addresses: Send
// elicitation/create with a URL instead, which revisions have since 2025-11-25. Another client is told what it lacks, and gets no address. The manifest
// has to list elicitation/create.
type URLElicitationError struct{ Elicitations []URLElicitation }

// URLElicitation is one page that the user has to see. All of it is required.
type URLElicitation struct {
	ID      string // for Call.ElicitationComplete
	URL     string // absolute
	Message string // says why
}

// Error implements error.
func (e *URLElicitationError) Error() string {
	return e.text(func(page *URLElicitation) string { return page.Message + ": " + page.URL })
}

// withoutAddresses is Error for clients that may open no pages (LET21).
func (e *URLElicitationError) withoutAddresses() string {
	return e.text(func(page *URLElicitation) string { return page.Message })
}

func (e *URLElicitationError) text(of func(page *URLElicitation) string) string {
	text := "the user has to open a page first"
	for i := range e.Elicitations {
		text += "; " + of(&e.Elicitations[i])
	}
	return text
}

func (e *URLElicitationError) data() ([]byte, error) {
	if len(e.Elicitations) == 0 {
		return nil, errors.New("a URLElicitationError without Elicitations")
	}
	b := []byte(`{"elicitations":[`)
	for i, page := range e.Elicitations {
		if !format.URI.Match(page.URL) || page.ID == "" || page.Message == "" {
			return nil, fmt.Errorf("a URLElicitation needs an ID, a URL with a scheme and a Message: %+v", page)
		}
		if err := address.Page(page.URL); err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = check.AppendString(append(b, `{"mode":"url","elicitationId":`...), page.ID)
		b = check.AppendString(append(b, `,"url":`...), page.URL)
		b = append(check.AppendString(append(b, `,"message":`...), page.Message), '}')
	}
	return append(b, `]}`...), nil
}

// kind is how a tool call ended, in whatever form a revision says it. It is stored with tasks, so its numbers keep their meaning.
type kind = uint8

const (
	plainKind           kind = iota // a result, or an error that is the same in every revision
	toolError                       // a result with isError
	noResource                      // ResourceError; for this kind and the next ones revisions have different codes, or none: then it becomes a toolError
	needsURLElicitation             // URLElicitationError
	needsAbility                    // UnsupportedError
)

// fault is a handler's error for which a revision may have a JSON-RPC error.
type fault struct {
	kind   kind
	text   string    // what a result with isError says
	status string    // what the status of a task says, which is not only for clients that may have the text; "": the text
	own    rpc.Error // of plainKind the error, of others its message and data alone; of needsAbility the message is the capability's path
}

// Error implements error.
func (f *fault) Error() string { return f.text }

// code returns the revision's code for errors of the kind, 0 if it has none.
func (rev *revision) code(k kind) int {
	switch k {
	case noResource:
		return rev.Codes.ResourceNotFound
	case needsURLElicitation:
		return rev.Codes.URLElicitationRequired
	case needsAbility:
		return rev.Codes.MissingCapability
	}
	return 0
}

// answer returns the fault in the revision's form, for a client with these abilities: a JSON-RPC error, or a result.
func (rev *revision) answer(f *fault, can ability) (wire.CallResult, error) {
	f = rev.openable(f, can)
	if own := rev.errorOf(f); own != nil {
		return wire.CallResult{}, own
	}
	return wire.CallResult{IsError: true, Content: appendText(nil, f.text)}, nil
}

// openable replaces the fault of a URLElicitationError for a client that does not open pages and so must not get their addresses (LET21), in whatever form
// the revision says them.
func (rev *revision) openable(f *fault, can ability) *fault {
	if f.kind != needsURLElicitation {
		return f
	}
	refused := rev.refusesPages(can)
	if refused == nil {
		return f
	}
	text := refused.Error()
	return &fault{kind: toolError, text: text, own: rpc.Error{Message: text}}
}

// errorOf returns the fault as an error of the revision, nil if the revision has no code for it.
func (rev *revision) errorOf(f *fault) *rpc.Error {
	code := rev.code(f.kind)
	switch {
	case f.kind == plainKind:
		return &f.own
	case code == 0:
		return nil
	case f.kind == needsAbility:
		return rev.missing(f.own.Message)
	}
	return &rpc.Error{Code: code, Message: f.own.Message, Data: f.own.Data}
}

// clientError returns the JSON-RPC error for an error of a handler or middleware; nil: only the log may have its text. An error of this package for
// which the revision has no code is an internal error with its text.
func (rev *revision) clientError(s *Server, err error, can ability, log *slog.Logger) *rpc.Error {
	text := ""
	if f := s.fault(err, log); f != nil {
		f = rev.openable(f, can)
		if own := rev.errorOf(f); own != nil {
			return own
		}
		if text = f.own.Message; f.kind == needsAbility {
			text = (&UnsupportedError{Capability: text}).Error()
		}
	} else if broken, ok := errors.AsType[*AnswerError](err); ok && broken != nil {
		return invalid("the client's answer to "+rpc.Quoted(broken.Question), violations(broken.Err))
	} else if changed := changedSince(err, false, log); changed != nil { // only tools run as tasks
		return changed
	} else if text = publicText(err); text == "" {
		return nil
	}
	return rpc.Errorf(rpc.CodeInternalError, "%s", text)
}

// changedSince returns the error that a client gets because another version of the server recorded something else under a name than the handler now asks
// or does there; nil: err is another error. What is recorded counts for nothing else (TSK29), so the client has to start the task or call again.
func changedSince(err error, ofTask bool, log *slog.Logger) *rpc.Error {
	own, ok := errors.AsType[*task.NameError](err)
	if !ok || own == nil || own.Recorded == "" {
		return nil
	}
	log.Error("question or step not run", "error", err)
	if ofTask {
		return rpc.Errorf(rpc.CodeInternalError, "the server's %s %s has changed since this task began; start the task again", own.Recorded, rpc.Quoted(own.Name))
	}
	return refusedState("the server's %s %s has changed since the call began: call again without it", own.Recorded, rpc.Quoted(own.Name))
}

// publicText returns the text of an error that a client may read though the revision has no code for it, "" for other errors: their text may be secret.
func publicText(err error) string {
	if own, ok := errors.AsType[*UnsupportedError](err); ok && own != nil {
		return own.Error()
	}
	if own, ok := errors.AsType[*ToolError](err); ok && own != nil {
		return own.Message
	}
	if own, ok := errors.AsType[*QuestionError](err); ok && own != nil {
		return own.Error()
	}
	if own, ok := errors.AsType[*StepError](err); ok && own != nil {
		return own.summary()
	}
	for _, own := range []error{ErrUnsupported, ErrQuestionTimeout, task.ErrWithdrawn} {
		if errors.Is(err, own) {
			return own.Error()
		}
	}
	return ""
}

// fault returns the fault of a handler's error, nil if it is a JSON-RPC error in no revision.
func (c *Call) fault(err error) *fault {
	f := c.s.fault(err, c.Log())
	if f != nil && f.kind == needsAbility {
		c.dropWithheld()
	}
	return f
}

// fault returns the fault of an error of a handler or middleware, nil if it is a JSON-RPC error in no revision. If the error breaks a rule, the log says
// which.
func (s *Server) fault(err error, log *slog.Logger) *fault {
	var own *rpc.Error
	var resource *ResourceError
	var pages *URLElicitationError
	var unsupported *UnsupportedError
	f := &fault{text: err.Error()}
	switch {
	case errors.As(err, new(*QuestionError)):
		return nil // what it wraps is the client's error
	case errors.As(err, &own) && own != nil:
		f.own = *s.allow(own, log)
	case errors.As(err, &resource) && resource != nil:
		f.kind, f.own.Message = noResource, resource.Error()
		f.own.Data = append(check.AppendString([]byte(`{"uri":`), resource.URI), '}')
	case errors.As(err, &pages) && pages != nil:
		f.kind, f.own.Message, f.status = needsURLElicitation, pages.Error(), pages.withoutAddresses()
		if f.own.Data, err = pages.data(); err != nil {
			f.kind, f.own, f.status = plainKind, *defect(err, log), ""
		}
	case errors.As(err, &unsupported) && unsupported != nil && unsupported.Capability != "":
		f.kind, f.own.Message = needsAbility, unsupported.Capability
	default:
		return nil
	}
	if f.kind == plainKind {
		f.text = f.own.Message
	}
	return f
}

// allow validates an *rpc.Error of a handler. A reserved code must mean what the specification says (LET05); data that is not JSON would break the
// frame (LET01).
func (s *Server) allow(own *rpc.Error, log *slog.Logger) *rpc.Error {
	if own.Reserved() {
		return defect(fmt.Errorf("code %d is reserved: return one of another range, or *server.ResourceError or "+
			"*server.URLElicitationError: %w", own.Code, own), log)
	}
	if len(own.Data) > 0 {
		if err := s.validate(own.Data, nil); err != nil {
			return defect(fmt.Errorf("the data of an error is not JSON: %w: %w", err, own), log)
		}
	}
	return own
}

// defect logs what is wrong with a handler's error, and returns the internal error in its place.
func defect(err error, log *slog.Logger) *rpc.Error {
	log.Error("error refused", "error", err)
	return errInternal
}

// invalidParams returns the error for params that break rules: the first violation in its message, all in its data (LET05).
func invalidParams(method string, err error) *rpc.Error {
	return invalid("invalid params of "+method, violations(err))
}

// violations returns the texts of the violations in err, or of err itself.
func violations(err error) []string {
	var all check.Violations
	if !errors.As(err, &all) || len(all) == 0 {
		return []string{err.Error()}
	}
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = all[i].Error()
	}
	return texts
}

// below puts the path of a member before the paths of the violations in err.
func below(member string, err error) error {
	var all check.Violations
	if !errors.As(err, &all) {
		return err
	}
	moved := slices.Clone(all)
	for i := range moved {
		moved[i].Instance = member + moved[i].Instance
	}
	return moved
}

// invalid returns an error with head and the first of texts as its message, and all texts as its data.
func invalid(head string, texts []string) *rpc.Error {
	err := rpc.Errorf(rpc.CodeInvalidParams, "%s: %s", head, texts[0])
	if more := len(texts) - 1; more > 0 {
		err.Message += fmt.Sprintf(" (and %d more)", more)
	}
	err.Data = violationsData(texts)
	return err
}

// refusedParam returns the error for a param that is valid by its schema, but names something unknown or impossible. The param's path is in the data,
// as for params that break their schema (LET05).
func refusedParam(at, format string, args ...any) *rpc.Error {
	return withParam(rpc.CodeInvalidParams, at, format, args...)
}

// withParam is refusedParam with another code.
func withParam(code int, at, format string, args ...any) *rpc.Error {
	err := rpc.Errorf(code, format, args...)
	err.Data = violationsData([]string{at + ": " + err.Message})
	return err
}

func violationsData(texts []string) []byte {
	return append(check.AppendSlice([]byte(`{"violations":`), texts, check.AppendString), '}')
}
