package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
	"github.com/mcpkiln/mcpkiln/runtime/wire/edit"
)

// Validator validates the arguments of a tool that is added while the server runs. A module below runtime makes one with a
// library for JSON Schema: runtime/jsonschema. It is safe for concurrent use.
type Validator interface {
	// Validate returns everything that is wrong with a JSON text, nil for nothing.
	Validate(arguments []byte) check.Violations
}

// OutputValidator is the Validator of a tool with an outputSchema: it validates the structured output, also one that middleware puts in its place
// (VAL01). The server has checked before that the output is an object.
type OutputValidator interface {
	// ValidateOutput returns everything that is wrong with a JSON text, nil for nothing.
	ValidateOutput(output []byte) check.Violations
}

// RawHandler is the code of a tool that is added while the server runs. Its arguments have been validated. For a tool with an outputSchema it returns
// the structured output, for others nil, or JSON that becomes a text block. Call.Content adds blocks. Its errors are answered as those of generated
// tools.
type RawHandler func(ctx context.Context, call *Call, arguments json.RawMessage) (json.RawMessage, error)

// AddTool adds a tool that was not known when the package was generated, at the end of the list. definition is the JSON object that tools/list shows,
// in the form of the newest revision that has each member; it needs a name and an inputSchema of type object. With an outputSchema, which is of type
// object, too, v has to be an OutputValidator. AddTool reads nothing else of the schemas: jsonschema.ForTool refuses schemas that break the rules of
// JSON Schema, such as a property of type "strnig"; with another Validator clients are shown them as they are. With execution.taskSupport "optional"
// or "required" the tool runs as a task in the revisions that have tasks, if Definition.AddedTasks or another tool's policy allows any. A tool that
// is destructive and not idempotent does not begin again after a crash. A restarted server goes on with a task of a durable store only if its tool is
// there: add it before serving, over HTTP before streamhttp.Handler. A task whose tool is not there is left for half a minute to processes that share the
// store, and to a tool that is added meanwhile, and then fails. Clients are told that the list has changed. Errors: *ExistsError for a name that exists
// already, others for an invalid definition.
func (s *Server) AddTool(definition []byte, v Validator, h RawHandler) error {
	if !s.serves(func(rev *revision) bool { return rev.Capabilities.Tools != "" }) {
		return errors.New("server: the package was generated without tools: write tools: {} in the manifest, and generate again")
	}
	t, err := s.rawTool(definition, v, h)
	if err != nil {
		return err
	}
	if err := s.applyTaskSupport(&t); err != nil {
		return err
	}
	s.ofTasks.mark(&t)
	if err := s.tools.add(t.Name, &t, nil); err != nil {
		return err
	}
	if s.engine != nil {
		s.engine.CanRunMore()
	}
	s.ToolsChanged()
	return nil
}

// applyTaskSupport gives an added tool its TaskPolicy, and moves the member execution out of its definition, because not every revision lists that.
func (s *Server) applyTaskSupport(t *Tool) error {
	members := edit.ObjectOf([]byte(t.Definition))
	i := slices.IndexFunc(members, func(m edit.Member) bool { return m.Name == "execution" })
	if i < 0 {
		return nil
	}
	t.Execution = string(members[i].Value)
	t.Definition = string(slices.Delete(members, i, i+1).AppendJSON(nil))
	support, said := taskSupports[member([]byte(t.Execution), "taskSupport")]
	switch {
	case !said:
		return nil
	case support != TaskForbidden && s.engine == nil:
		return fmt.Errorf("server: tool %q runs as a task, and the package was generated without tasks: write defaults: {task: {}} in the manifest, and generate again", t.Name)
	}
	if s.def.AddedTasks != nil {
		t.Task = *s.def.AddedTasks
	}
	t.Task.Support = support
	if riskyToRerun(t.Definition) {
		t.Task.OnCrash = FailOnCrash
	}
	return nil
}

// riskyToRerun reports whether the tool of a definition may destroy something and is not idempotent. A manifest says what becomes of a task whose
// process dies; for an added tool these hints decide.
func riskyToRerun(definition string) bool {
	var d struct {
		Annotations map[string]any `json:"annotations"`
	}
	return exact.Unmarshal([]byte(definition), &d) == nil && d.Annotations["destructiveHint"] == true && d.Annotations["idempotentHint"] != true
}

var taskSupports = map[string]TaskSupport{"forbidden": TaskForbidden, "optional": TaskOptional, "required": TaskRequired}

// RemoveTool removes a tool, generated or added. Calls that run go on, and so do tasks that this process accepted: those of
// a durable store unless maxRemovedTools others that run as tasks were removed since. It reports whether there was such a tool.
func (s *Server) RemoveTool(name string) bool {
	removed := s.ofTasks.remove(name, &s.tools)
	if removed {
		s.ToolsChanged()
	}
	return removed
}

// serves reports whether is returns true for one of the served revisions.
func (s *Server) serves(is func(*revision) bool) bool {
	for _, rev := range s.revisions {
		if is(rev) {
			return true
		}
	}
	return false
}

var toolName = lazyregexp.New(`^[A-Za-z0-9_.-]{1,128}$`)

// rawTool makes a Tool of what AddTool got, if that is valid.
func (s *Server) rawTool(definition []byte, v Validator, h RawHandler) (Tool, error) {
	if err := toolShape.check(definition, s.ownMeta()); err != nil {
		return Tool{}, err
	}
	name, members := member(definition, "name"), membersOf(definition)
	structured := members["outputSchema"] != nil
	wrong := ""
	var outputs OutputValidator
	if structured {
		outputs, _ = v.(OutputValidator)
	}
	switch {
	case !toolName().MatchString(name):
		return Tool{}, fmt.Errorf("server: %q is no name for a tool: use letters, digits, _, . and -, 128 at most", name)
	case member(members["inputSchema"], "type") != "object":
		wrong = "its inputSchema has to be of type object"
	case structured && member(members["outputSchema"], "type") != "object":
		wrong = "its outputSchema has to be of type object"
	case v == nil:
		wrong = "it needs a Validator: nothing else holds arguments against its schema"
	case structured && outputs == nil:
		wrong = "its Validator has to be an OutputValidator: nothing else holds outputs against its outputSchema"
	case h == nil:
		wrong = "it has no handler"
	default:
		return Tool{Name: name, Definition: string(definition), Handler: rawHandler(v, h, outputs, check.Sensitive(string(definition)))}, nil
	}
	return Tool{}, fmt.Errorf("server: tool %q: %s", name, wrong)
}

// rawHandler returns the Handler that runs h, with its validators; outputs is nil without an outputSchema. hidden names the sensitive properties.
func rawHandler(v Validator, h RawHandler, outputs OutputValidator, hidden string) Handler {
	c := codec{appendTo: func(b []byte, out any) []byte { return append(b, *out.(*json.RawMessage)...) }, answers: new(answerSizes)}
	if outputs != nil {
		c.spare = &sync.Pool{New: func() any { return new(json.RawMessage) }}
		c.decode = func(d *check.Decoder, _ any) { readObject(d) }
		c.clear = func(any) {}
		c.validateOutput = func(output []byte) error {
			if wrong := outputs.ValidateOutput(output); len(wrong) > 0 {
				return wrong.Hidden(hidden)
			}
			return nil
		}
	}
	return Handler{
		codec: c, hidden: hidden, in: (*json.RawMessage)(nil), out: (*json.RawMessage)(nil), validate: v.Validate,
		read: func(d *check.Decoder) any {
			raw := json.RawMessage(d.Raw(nil))
			d.CountAny(raw) // before the validator decodes it
			return &raw
		},
		call: func(ctx context.Context, call *Call, in any) (any, error) {
			out, err := h(ctx, call, *in.(*json.RawMessage))
			switch {
			case out == nil || err != nil:
				return nil, err
			case outputs == nil:
				call.Content(Text(string(out)))
				return nil, nil
			}
			return &out, nil
		},
	}
}
