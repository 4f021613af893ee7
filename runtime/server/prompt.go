package server

import (
	"context"
	"fmt"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
	"github.com/mcpkiln/mcpkiln/runtime/wire/edit"
)

// Prompt is one prompt of the registry: how it is listed, made and completed.
type Prompt struct {
	Name string
	// Definition is the advertised JSON object, as the newest revision has it.
	Definition string
	Handler    PromptHandler
	// Arguments are those for which completion/complete has suggestions.
	Arguments []Argument
	// Sensitive are the arguments whose values are not shown in violations.
	Sensitive []string
	Policy    EntryPolicy

	arguments []string // the names of all arguments
}

// PromptHandler makes a prompt from its arguments. BindPrompt and PlainPrompt make one.
type PromptHandler struct {
	// read decodes the arguments, nil for a prompt that takes none.
	read func(d *check.Decoder) any
	get  func(ctx context.Context, call *Call, in any) (*PromptResult, error)
}

// BindPrompt joins a handler with the decoder of its arguments. Arguments that decode refuses are answered with -32602 and every
// violation, and never reach fn. Errors of fn are answered as those of BindMethod are.
func BindPrompt[In any](decode func(d *check.Decoder, in *In), fn func(ctx context.Context, call *Call, in *In) (*PromptResult, error)) PromptHandler {
	return PromptHandler{
		read: anyReader(decode),
		get: func(ctx context.Context, call *Call, in any) (*PromptResult, error) {
			return fn(ctx, call, in.(*In))
		},
	}
}

func anyReader[In any](decode func(d *check.Decoder, in *In)) func(d *check.Decoder) any {
	return func(d *check.Decoder) any {
		in := new(In)
		decode(d, in)
		return in
	}
}

// PlainPrompt is the handler of a prompt without arguments.
func PlainPrompt(fn func(ctx context.Context, call *Call) (*PromptResult, error)) PromptHandler {
	return PromptHandler{get: func(ctx context.Context, call *Call, _ any) (*PromptResult, error) { return fn(ctx, call) }}
}

// PromptResult is the content of a prompt: messages for the model, and a description, "" for none.
type PromptResult struct {
	Description string
	Messages    []PromptMessage
}

// PromptMessage is one message of a prompt. UserMessage and AssistantMessage make one.
type PromptMessage struct {
	Role    Role
	Content Block
}

// PromptOf is a prompt of these messages.
func PromptOf(messages ...PromptMessage) *PromptResult { return &PromptResult{Messages: messages} }

// UserMessage is a message that the user says.
func UserMessage(content Block) PromptMessage { return PromptMessage{RoleUser, content} }

// AssistantMessage is a message that the model says.
func AssistantMessage(content Block) PromptMessage { return PromptMessage{RoleAssistant, content} }

func promptNames(definition string) ([]string, error) {
	var d struct {
		Arguments []struct {
			Name string `json:"name"`
		} `json:"arguments"`
	}
	if err := exact.Unmarshal([]byte(definition), &d); err != nil {
		return nil, err
	}
	names := make([]string, len(d.Arguments))
	for i := range d.Arguments {
		names[i] = d.Arguments[i].Name
	}
	return names, nil
}

func (r *request) listPrompts(b []byte) ([]byte, error) {
	s, rev := r.p.s, r.revision
	const kind = "prompts"
	after, ok := numberIn(&r.params, kind)
	if !ok {
		return nil, errCursor
	}
	shown := r.shown(s.cfg.promptFilter)
	return append(b, s.prompts.table.Load().list(rev, after, &listing[Prompt]{
		kind: kind, size: s.cfg.pageSize, perCaller: shown != nil,
		appendEntry: func(b []byte, p *Prompt) []byte {
			if shown != nil && !shown(p.Name) {
				return b
			}
			return edit.AppendOmitting(nextItem(b), p.Definition, rev.View.PromptOmits)
		},
		wrap: func(items []byte, next string) []byte {
			return rev.AppendPromptList(nil, s.itemList(rev, items, next, shown != nil))
		},
	})...), nil
}

// itemList is a page of a list; its cache scope is private if own is set: the list is for this caller only.
func (s *Server) itemList(rev *revision, items []byte, next string, own bool) *wire.ItemList {
	scope := s.cfg.cacheScope
	if own {
		scope = cachePrivate
	}
	return &wire.ItemList{Items: items, NextCursor: next, CacheTTL: wire.MillisOf(s.cfg.cacheTTL), CacheScope: scope, ServerInfo: rev.resultInfo}
}

func (r *request) getPrompt(b []byte) ([]byte, error) {
	e := r.p.s.prompts.table.Load().named[r.params.Name]
	if e == nil || !r.shows(r.p.s.cfg.promptFilter, e.key) {
		return nil, withParam(r.revision.Codes.PromptNotFound, atName, "unknown prompt %s", rpc.Quoted(r.params.Name))
	}
	p := e.value
	return r.serveEntry(b, &e.answers, func(ctx context.Context, call *Call) (write, error) {
		in, err := r.readEntry(atArguments, r.params.Arguments, check.Hidden(p.Sensitive...), p.Handler.read)
		if err != nil {
			return nil, err
		}
		out, err := p.Handler.get(ctx, call, in)
		r.notePrompt(out)
		if err = call.returned(err); err != nil {
			return nil, err
		}
		return func(b []byte) ([]byte, error) { return r.revision.appendPrompt(b, out, &r.placeholders) }, nil
	})
}

// readEntry decodes the arguments of a prompt, or the variables of a template, by read, which is nil for a prompt that takes no arguments. hidden has the
// names of those whose values are not shown. at is their place in params; "": variables are not in params.
func (r *request) readEntry(at string, arguments []byte, hidden string, read func(d *check.Decoder) any) (in any, err error) {
	if read == nil {
		read = func(d *check.Decoder) any {
			for f := d.Object(&noArguments); f >= 0; f = d.Next() {
				d.Skip()
			}
			return nil
		}
	}
	get := check.GetScanned
	if r.repeatedKey {
		get = check.Get
	}
	d := get(orEmpty(arguments), r.p.s.cfg.limits)
	d.Charge(&r.reservation)
	d.Hide(hidden)
	in = read(d)
	err = d.FinishAfter(func(d *check.Decoder) { read(d) })
	d.Put()
	if err != nil {
		return nil, invalidInput(below(at, err))
	}
	return in, nil
}

var noArguments = check.Object{AdditionalProperties: check.Refuse}

func (rev *revision) appendPrompt(b []byte, out *PromptResult, placeholders *[]placeholder) ([]byte, error) {
	if out == nil {
		return b, &outputError{errNoOutput}
	}
	messages := []byte{'['}
	for i := range out.Messages {
		m := &out.Messages[i]
		if err := m.check(); err != nil {
			return b, &outputError{fmt.Errorf("message %d of the prompt: %w", i, err)}
		}
		messages = rev.AppendPromptMessage(nextItem(messages), &wire.PromptMessage{Role: string(m.Role), Content: m.Content.append(nil, rev, placeholders)})
	}
	result := wire.PromptResult{Description: out.Description, Messages: append(messages, ']'), ServerInfo: rev.resultInfo}
	return rev.AppendPromptResult(b, &result), nil
}

func (r *request) notePrompt(out *PromptResult) {
	if out == nil {
		return
	}
	for i := range out.Messages {
		r.noteReader(out.Messages[i].Content.open)
	}
}

func (m *PromptMessage) check() error {
	if m.Role != RoleUser && m.Role != RoleAssistant {
		return fmt.Errorf("%q is no role: RoleUser and RoleAssistant are", m.Role)
	}
	return m.Content.check()
}
