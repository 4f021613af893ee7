package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/schema"
)

func newTools() *cobra.Command {
	var r remote
	cmd := &cobra.Command{
		Use:   "tools (TARGET [TOOL] | [TOOL] -- COMMAND…)",
		Short: "List the tools of a server, or explain one",
		Long: strings.TrimSpace(`
tools lists what a server can do. With the name of a tool it says what the tool takes and returns. TARGET is the address of a server, or
the name of an entry in an mcp.json; a server on a pipe is the command behind --.`),
		Example: `  mcpkiln tools https://example.com/mcp
  mcpkiln tools https://example.com/mcp get_quote
  mcpkiln tools -- ./reports`,
		Args: cobra.ArbitraryArgs,
	}
	r.register(cmd)
	cmd.ValidArgsFunction = r.complete(toolOnly)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, rest, err := r.named(cmd, args)
		switch {
		case err != nil:
			return err
		case len(rest) > 1:
			return refused(fmt.Errorf("%s: one tool is explained at a time", rest[1]))
		}
		return r.tools(cmd, t, rest)
	}
	return cmd
}

func (r *remote) tools(cmd *cobra.Command, t client.Transport, name []string) error {
	return r.visit(cmd, t, nil, func(v *visit) error {
		all, err := v.tools()
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		var one *tool
		if len(name) > 0 {
			if one, err = v.find(all, name[0]); err != nil {
				return err
			}
		}
		if r.json || one != nil {
			v.noteUnsaidTasks(all)
		}
		switch {
		case len(all) == 0 && !r.json:
			fmt.Fprintln(cmd.ErrOrStderr(), "mcpkiln: the server has no tools, or shows you none")
			return nil
		case one == nil:
			return r.list(out, v, all)
		case r.json:
			return printJSON(out, one.raw)
		}
		return one.explain(out)
	})
}

// noteUnsaidTasks says where to see which tools run as tasks, if the server has tasks and its list does not say it.
func (v *visit) noteUnsaidTasks(all []tool) {
	capabilities, _ := schema.ParseJSON("", v.session.Capabilities())
	if unsaidTasks(capabilities, slices.ContainsFunc(all, func(t tool) bool { return t.Execution.TaskSupport != "" })) {
		fmt.Fprintf(v.cmd.ErrOrStderr(), "mcpkiln: the list of %s does not say which tools run as tasks: mcpkiln tools … --revision %s does\n", v.session.Revision(), firstWithTasks)
	}
}

// saved is a server's description of itself, which import can read.
type saved struct {
	ProtocolVersion string            `json:"protocolVersion"`
	ServerInfo      json.RawMessage   `json:"serverInfo,omitempty"`
	Capabilities    json.RawMessage   `json:"capabilities,omitempty"`
	Instructions    string            `json:"instructions,omitempty"`
	Tools           []json.RawMessage `json:"tools"`
	LeftOut         []leftOut         `json:"leftOut,omitempty"`
}

// leftOut is a tool of the server that is not among those saved.
type leftOut struct {
	Tool string `json:"tool"` // its name, or its place in the list: tools[2]
	Why  string `json:"why"`
}

func leftOutOf(all []client.LeftOut) (out []leftOut) {
	for _, l := range all {
		out = append(out, leftOut{cmp.Or(l.Name, fmt.Sprintf("tools[%d]", l.Index)), l.Why})
	}
	return out
}

// list prints all tools, one a line.
func (r *remote) list(out io.Writer, v *visit, all []tool) error {
	if r.json {
		raw := make([]json.RawMessage, len(all))
		for i := range all {
			raw[i] = all[i].raw
		}
		s := v.session
		text, err := json.Marshal(saved{s.Revision(), s.ServerInfo(), s.Capabilities(), s.Instructions(), raw, leftOutOf(v.leftOut)})
		if err != nil {
			return err
		}
		return printJSON(out, text)
	}
	w := newTable(out)
	for i := range all {
		fmt.Fprintf(w, "%s\t%s\n", plain.Line(all[i].Name), all[i].summary())
	}
	return w.Flush()
}

// maxSummary limits the summary of a tool, in characters.
const maxSummary = 100

// summary returns the first sentence of the description, on one line.
func (t *tool) summary() string {
	text := plain.Line(t.Description)
	if text == "" {
		text = plain.Line(t.Title)
	}
	if first, _, more := strings.Cut(text, ". "); more {
		text = first + "."
	}
	if r := []rune(text); len(r) > maxSummary {
		text = string(r[:maxSummary-1]) + "…"
	}
	return text
}

// explain prints what a tool does, takes and returns.
func (t *tool) explain(out io.Writer) error {
	w := &bytes.Buffer{}
	fmt.Fprintln(w, plain.Line(t.Name))
	if t.Title != "" {
		fmt.Fprintln(w, plain.Line(t.Title))
	}
	if t.Description != "" {
		fmt.Fprintf(w, "\n%s\n", plain.Quote(strings.TrimSpace(t.Description)))
	}
	if hints := t.hints(); len(hints) > 0 {
		fmt.Fprintf(w, "\nThe server says that it %s.\n", strings.Join(hints, ", "))
	}
	if err := t.explainSchema(w, "Arguments", t.InputSchema); err != nil {
		return err
	}
	if t.OutputSchema != nil {
		if err := t.explainSchema(w, "Result", t.OutputSchema); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "\nThe schemas are printed by --json.\n")
	_, err := out.Write(w.Bytes())
	return err
}

// hints returns what the server says of a tool's behaviour, which need not be true.
func (t *tool) hints() (all []string) {
	for _, h := range []struct{ name, yes, no string }{
		{"readOnlyHint", "changes nothing", ""}, {"destructiveHint", "may destroy what there is", "destroys nothing"},
		{"idempotentHint", "may be called again", ""}, {"openWorldHint", "reaches other systems", "reaches no other systems"},
	} {
		switch t.Annotations[h.name] {
		case true:
			all = append(all, h.yes)
		case false:
			if h.no != "" {
				all = append(all, h.no)
			}
		}
	}
	switch t.Execution.TaskSupport {
	case "required":
		all = append(all, "runs as a task")
	case "optional":
		all = append(all, "can run as a task")
	}
	return all
}

// explainSchema prints the properties of an object, and what is inside of them.
func (t *tool) explainSchema(w io.Writer, title string, schema json.RawMessage) error {
	e := newExplainer(schema)
	properties, required := e.object()
	fmt.Fprintf(w, "\n%s:", title)
	if len(properties) == 0 {
		fmt.Fprint(w, " none that the schema names")
	}
	fmt.Fprintln(w)
	rows := newTable(w)
	e.explain(rows, object{properties, required}, "  ")
	return rows.Flush()
}

// maxIndent is the indentation of the innermost properties that are explained: those of three objects within each other, in an argument.
const maxIndent = "        "

// explain prints the rows of properties, required ones first, each followed by what is inside of it. passed are the references that led to them.
func (e *explainer) explain(rows io.Writer, o object, indent string, passed ...string) {
	names := slices.Sorted(maps.Keys(o.Properties))
	places := placesOf(o.Required)
	slices.SortStableFunc(names, func(a, b string) int { return places.of(a) - places.of(b) })
	for _, name := range names {
		p := e.property(o.Properties[name], passed...)
		need := ""
		if places.of(name) < len(places) {
			need = "required"
		}
		fmt.Fprintf(rows, "%s%s\t%s\t%s\t%s\n", indent, plain.Line(name), p.full(), need, p.about())
		if inner := p.inner(); inner != nil && len(indent) < len(maxIndent) && e.left > 0 {
			e.explain(rows, inner.object, indent+"  ", inner.passed...)
		}
	}
}

// places has the place of each required property: they come first, as the schema lists them, then the others.
type places map[string]int

func placesOf(required []string) places {
	all := places{}
	for _, name := range required {
		if _, twice := all[name]; !twice {
			all[name] = len(all)
		}
	}
	return all
}

// of returns the sort key of a property: less than len(p) for a required one.
func (p places) of(name string) int {
	if at, required := p[name]; required {
		return at
	}
	return len(p)
}

// printJSON prints JSON on one line.
func printJSON(out io.Writer, raw []byte) error {
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		return err
	}
	_, err := out.Write(append(plain.JSON(line.Bytes()), '\n'))
	return err
}
