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

// URLElicitationError says that a request can not be served before the user has done something on pages of the web. Revisions
// that have a code for it answer with that, and the client tries again, if it declares that it opens pages; else the error is that it does not. In others it is an error like any: Send elicitation/create
// with a URL instead, which every revision serves. The manifest has to list elicitation/create.
type URLElicitationError struct{ Elicitations []URLElicitation }

// URLElicitation is one page that the user has to see. All of it is required.
type URLElicitation struct {
	ID      string // for Call.ElicitationComplete
	URL     string // absolute
	Message string // says why
}

// Error implements error.
func (e *URLElicitationError) Error() string {
	text := "the user has to open a page first"
	for i := range e.Elicitations {
		text += "; " + e.Elicitations[i].Message + ": " + e.Elicitations[i].URL
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

// kind says what the end of a tool call is, apart from its form in a revision. It is stored with tasks: numbers keep their meaning.
type kind = uint8

const (
	plainKind           kind = iota // a result, or an error that is the same everywhere
	toolError                       // a result with isError
	noResource                      // what follows are errors that revisions have different codes for, or none: then it is a toolError
	needsURLElicitation             // URLElicitationError
	needsAbility                    // UnsupportedError
)

// fault is a handler's error that the protocol has an error for.
type fault struct {
	kind kind
	text string    // what a result with isError says
	own  rpc.Error // as it is, or what an error of the kind is made of
}

// Error implements error.
func (f *fault) Error() string { return f.text }

// code is what the revision has for errors of the kind, 0 for nothing.
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

// answer is what the fault is in the revision, for a client with these abilities: a JSON-RPC error, or a result.
func (rev *revision) answer(f *fault, can ability) (wire.CallResult, error) {
	f = rev.openable(f, can)
	if own := rev.errorOf(f); own != nil {
		return wire.CallResult{}, own
	}
	return wire.CallResult{IsError: true, Content: appendText(nil, f.text)}, nil
}

// openable is the fault for a client with these abilities. Addresses of pages are for clients that open them (LET21).
func (rev *revision) openable(f *fault, can ability) *fault {
	if f.kind != needsURLElicitation || rev.code(needsURLElicitation) == 0 {
		return f
	}
	refused := rev.refusesPages(can)
	if refused == nil {
		return f
	}
	return &fault{kind: needsAbility, text: refused.Error(), own: rpc.Error{Message: refused.Capability}}
}

// errorOf is the fault as an error of the revision, nil where that has no code for it.
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

// clientError is what an error of a handler or middleware is where only a JSON-RPC error can be answered, nil for one whose text is for the
// log alone. Words of the runtime are for clients: what the revision has no code for is an internal error with them.
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
	} else if text = spoken(err); text == "" {
		return nil
	}
	return rpc.Errorf(rpc.CodeInternalError, "%s", text)
}

// spoken is what a client may read of an error that no revision has a code for, "" for nothing: what an error wraps may be secret.
func spoken(err error) string {
	if own, ok := errors.AsType[*UnsupportedError](err); ok && own != nil {
		return own.Error()
	}
	if own, ok := errors.AsType[*ToolError](err); ok && own != nil {
		return own.Message
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

// fault is what the protocol makes of a handler's error, nil if it has no error for it.
func (c *Call) fault(err error) *fault {
	f := c.s.fault(err, c.Log())
	if f != nil && f.kind == needsAbility {
		c.dropWithheld()
	}
	return f
}

// fault is what the protocol makes of an error of a handler or middleware, nil if it has no error for it. What is wrong with it goes into
// the log.
func (s *Server) fault(err error, log *slog.Logger) *fault {
	var own *rpc.Error
	var resource *ResourceError
	var pages *URLElicitationError
	var unsupported *UnsupportedError
	f := &fault{text: err.Error()}
	switch {
	case errors.As(err, &own) && own != nil:
		f.own = *s.allow(own, log)
	case errors.As(err, &resource) && resource != nil:
		f.kind, f.own.Message = noResource, resource.Error()
		f.own.Data = append(check.AppendString([]byte(`{"uri":`), resource.URI), '}')
	case errors.As(err, &pages) && pages != nil:
		f.kind, f.own.Message = needsURLElicitation, pages.Error()
		if f.own.Data, err = pages.data(); err != nil {
			f.kind, f.own = plainKind, *defect(err, log)
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

// allow validates an author's own error. A reserved code means what the specification says, or nothing (LET05); data that is no JSON
// would break the frame (LET01).
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

// defect is the answer for a wrong error. What is wrong is for the log alone.
func defect(err error, log *slog.Logger) *rpc.Error {
	log.Error("error refused", "error", err)
	return errInternal
}

// invalidParams refuses params for err: with one sentence, and all that is wrong in the data (LET05).
func invalidParams(method string, err error) *rpc.Error {
	return invalid("invalid params of "+method, violations(err))
}

// violations are the single things that err says.
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

// below moves what err says to a member of what it is about.
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

// invalid says the first of what is wrong after head, and has all of it as data.
func invalid(head string, texts []string) *rpc.Error {
	err := rpc.Errorf(rpc.CodeInvalidParams, "%s: %s", head, texts[0])
	if more := len(texts) - 1; more > 0 {
		err.Message += fmt.Sprintf(" (and %d more)", more)
	}
	err.Data = violationsData(texts)
	return err
}

// refusedParam is an error for a param that has its form, and says what is not there or not possible. Where the param is stands in data, as
// for those that break their definition (LET05).
func refusedParam(at, format string, args ...any) *rpc.Error {
	return withParam(rpc.CodeInvalidParams, at, format, args...)
}

// withParam is refusedParam for a code that a revision has of its own.
func withParam(code int, at, format string, args ...any) *rpc.Error {
	err := rpc.Errorf(code, format, args...)
	err.Data = violationsData([]string{at + ": " + err.Message})
	return err
}

func violationsData(texts []string) []byte {
	return append(check.AppendSlice([]byte(`{"violations":`), texts, check.AppendString), '}')
}
