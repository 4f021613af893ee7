package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/wire/edit"
)

// Validator validates the arguments of a tool that is added while the server runs. A module below runtime makes one with a
// library for JSON Schema: runtime/jsonschema. It is safe for concurrent use.
type Validator interface {
	// Validate returns everything that is wrong with a JSON text, nil for nothing.
	Validate(arguments []byte) check.Violations
}

// OutputValidator is the Validator of a tool with an outputSchema: it holds the structured output against that, also one that middleware
// puts in its place (VAL01). That the output is an object, as the outputSchema says, is seen to before.
type OutputValidator interface {
	// ValidateOutput returns everything that is wrong with a JSON text, nil for nothing.
	ValidateOutput(output []byte) check.Violations
}

// RawHandler is the code of a tool that is added while the server runs. Its arguments have been validated. It returns the structured output
// of a tool with an outputSchema; of other tools, nil, or JSON that becomes a text. Call.Content adds blocks. Errors become those of any
// tool.
type RawHandler func(ctx context.Context, call *Call, arguments json.RawMessage) (json.RawMessage, error)

// AddTool adds a tool that was not known when the package was generated, at the end of the list. definition is the JSON object that
// tools/list shows, in the words of the newest revision that has them; it needs a name and an inputSchema of type object. With an
// outputSchema, which is of type object, too, v has to be an OutputValidator: outputs that nothing holds against their schema are refused.
// What else is in the schemas is not read here: jsonschema.ForTool refuses what breaks the rules of JSON Schema, such as a type "strnig" of a
// property, and with a Validator of one's own clients are shown the schemas as they are. With
// execution.taskSupport "optional" or "required" it runs as a task in the revisions that have tasks, as long as Definition.AddedTasks or
// another tool's policy has them. One that is destructive and not idempotent does not begin again after a crash. A task of a durable store that a restarted server goes on with needs its tool to be there: add it before
// serving. Clients are told that the list has changed. Errors: *ExistsError for a name that there is, others for a definition that is wrong.
func (s *Server) AddTool(definition []byte, v Validator, h RawHandler) error {
	if !s.serves(func(rev *revision) bool { return rev.Capabilities.Tools != "" }) {
		return errors.New("server: the package was generated without tools: write tools: {} in the manifest, and generate again")
	}
	t, err := s.rawTool(definition, v, h)
	if err != nil {
		return err
	}
	if err := s.runsAsTask(&t); err != nil {
		return err
	}
	if err := s.tools.add(t.Name, &t, nil); err != nil {
		return err
	}
	s.ToolsChanged()
	return nil
}

// runsAsTask gives an added tool its policy for tasks, and takes what it says of them out of its definition: not every revision lists it.
func (s *Server) runsAsTask(t *Tool) error {
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

// riskyToRerun reports whether the tool of a definition may destroy something and is not idempotent. Tools of a manifest choose what becomes of such
// a task when its process dies; for one that is added, nobody does.
func riskyToRerun(definition string) bool {
	var d struct {
		Annotations map[string]any
	}
	return json.Unmarshal([]byte(definition), &d) == nil && d.Annotations["destructiveHint"] == true && d.Annotations["idempotentHint"] != true
}

var taskSupports = map[string]TaskSupport{"forbidden": TaskForbidden, "optional": TaskOptional, "required": TaskRequired}

// RemoveTool removes a tool, whoever added it. Calls that run go on. It reports whether there was such a tool.
func (s *Server) RemoveTool(name string) bool {
	removed := s.tools.remove(name)
	if removed {
		s.ToolsChanged()
	}
	return removed
}

// serves reports whether some revision does.
func (s *Server) serves(is func(*revision) bool) bool {
	for _, rev := range s.revisions {
		if is(rev) {
			return true
		}
	}
	return false
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

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
	case !toolName.MatchString(name):
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

// rawHandler is h behind its validator. outputs is that of a tool with an outputSchema, nil for others.
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
