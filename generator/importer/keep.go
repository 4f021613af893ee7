package importer

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/schema"
)

// Loss is something of the source that the generated server does not advertise, or advertises differently.
type Loss struct {
	Tool    string // "" for the server
	Pointer string // in the definition; "" for all of it
	Why     string
}

// String returns the loss on one line.
func (l Loss) String() string {
	where := l.Tool
	if where == "" {
		where = "the server"
	}
	if l.Pointer != "" {
		where += " " + l.Pointer
	}
	return where + ": " + l.Why
}

const leftOut = "the tool is left out: "

// Imported is a manifest that was made from a source.
type Imported struct {
	Manifest []byte // YAML
	Name     string // of the server
	Version  string
	Tools    int      // in the source
	Kept     int      // tools whose definition is advertised as the source has it
	Lost     []Loss   // those of the server, those of items that are no definitions, then of tools in the source's order
	Others   []string // capabilities other than tools that the source declares: they are not imported
}

// Import makes a manifest from a source, generates from it, and compares what would be advertised with the source. What can not be generated is
// left out, and added to Lost. It writes nothing. It returns an error if nothing can be generated from the source, or if ctx ends.
func Import(ctx context.Context, s *Source, o Options) (*Imported, error) {
	out, unexplained, err := attempt(ctx, s, o, true)
	if err != nil || unexplained { // a shared definition may not be valid as a schema of the manifest
		out, _, err = attempt(ctx, s, o, false)
	}
	return out, err
}

// attempt imports with or without shared schemas. unexplained is true if something differs that was not left out.
func attempt(ctx context.Context, s *Source, o Options, share bool) (out *Imported, unexplained bool, err error) {
	d := newDraft(s, o, share)
	result, err := d.generate(ctx)
	if err != nil {
		return nil, false, err
	}
	before := len(d.lost)
	kept := d.prove(result)
	unexplained = len(d.lost) > before
	d.lost = slices.Concat(d.lost, s.LeftOut)
	slices.SortStableFunc(d.lost, func(a, b Loss) int { return s.place(a.Tool) - s.place(b.Tool) })
	return &Imported{Manifest: d.yaml(), Name: textOf(d.server.Get("name")), Version: textOf(d.server.Get("version")),
		Tools: len(s.Tools) + len(s.LeftOut), Kept: kept, Lost: d.lost, Others: s.others()}, unexplained, nil
}

// place returns the index of a tool in the source; -1 for others and for "", the server, so that their losses come first.
func (s *Source) place(tool string) int {
	return slices.IndexFunc(s.Tools, func(t *schema.Node) bool { return t.Get("name").Text == tool })
}

// others returns the declared capabilities other than tools that a manifest could have.
func (s *Source) others() (all []string) {
	for _, m := range members(s.Capabilities) {
		if slices.Contains([]string{"prompts", "resources", "completions", "logging"}, m.Key) {
			all = append(all, m.Key)
		}
	}
	return all
}

// manifestName is what diagnostics call the manifest, which is not in a file yet.
const manifestName = "mcpkiln.yaml"

// generate generates from the draft, and leaves out what has errors until the rest has none.
func (d *draft) generate(ctx context.Context) (*generator.Result, error) {
	for {
		cfg := generator.Config{Manifest: generator.Source{Path: manifestName, Data: d.yaml()}, Import: "example.com/imported"}
		result, err := generator.Generate(ctx, cfg)
		if err != nil || !result.Diagnostics.HasErrors() {
			return result, err
		}
		if !d.mend(result.Diagnostics) {
			return nil, fmt.Errorf("%s: nothing can be generated of it; this is the manifest that it would become: %w", d.source.File, rendered(result.Diagnostics, cfg.Manifest.Data))
		}
	}
}

// mend leaves out what has errors; it returns false if that can not be left out, or no tool would be left.
func (d *draft) mend(ds schema.Diagnostics) bool {
	mended := false
	for _, e := range ds {
		if e.Severity == schema.Error {
			mended = d.leaveOut(e) || mended
		}
	}
	return mended && len(d.tools.Members) > 0
}

// leaveOut leaves out what has one error: the member of the server, the keyword, or else the tool.
func (d *draft) leaveOut(e schema.Diagnostic) bool {
	if key, ok := strings.CutPrefix(e.Pointer, "/server/"); ok {
		key, _, _ = strings.Cut(key, "/")
		return key != "name" && key != "version" && d.remove(d.server, key, Loss{"", "/" + key, why(e)})
	}
	rest, ok := strings.CutPrefix(e.Pointer, "/tools/")
	if !ok {
		return false
	}
	token, pointer, _ := strings.Cut(rest, "/")
	name := schema.UnescapeToken(token)
	tool := d.tools.Get(name)
	switch {
	case tool == nil:
		return false // left out for an earlier error
	case e.Code == "same-go-name":
		return d.rename(name, tool)
	case slices.Contains(ofKeywords, e.Code) && pointer != "":
		return d.removeAt(tool, "/"+pointer, Loss{name, "/" + pointer, why(e)})
	}
	if pointer != "" {
		pointer = "/" + pointer
	}
	return d.remove(d.tools, name, Loss{name, "", leftOut + strings.TrimPrefix(pointer+": ", ": ") + why(e)})
}

// ofKeywords are codes of errors about a single member. When that is left out, the rest keeps its meaning.
var ofKeywords = []string{"misspelt-keyword", "unknown-key", "foreign-pattern", "meta-name", "icon-source", "no-uri", "mime-type"}

func why(e schema.Diagnostic) string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " (" + e.Hint + ")"
}

// removeAt removes the member at a pointer.
func (d *draft) removeAt(tool *schema.Node, pointer string, l Loss) bool {
	at := strings.LastIndexByte(pointer, '/')
	parent := tool.Lookup(pointer[:at])
	return parent.Is(schema.Object) && d.remove(parent, schema.UnescapeToken(pointer[at+1:]), l)
}

// remove removes a member.
func (d *draft) remove(from *schema.Node, key string, l Loss) bool {
	kept := slices.DeleteFunc(slices.Clone(from.Members), func(m schema.Member) bool { return m.Key == key })
	if len(kept) == len(from.Members) {
		return false
	}
	from.Members = kept
	d.lost = append(d.lost, l)
	return true
}

// rename gives a tool another name in Go, because an earlier tool has the same.
func (d *draft) rename(name string, tool *schema.Node) bool {
	if d.taken == nil {
		d.taken = map[string]bool{}
		for _, m := range d.tools.Members {
			d.taken[naming.GoName(m.Key)] = true
		}
	}
	for i := 2; ; i++ {
		goName := naming.GoName(name) + strconv.Itoa(i)
		if !d.taken[goName] {
			d.taken[goName] = true
			tool.Members = append([]schema.Member{{Key: "goName", Value: text(goName)}}, tool.Members...)
			return true
		}
	}
}

func (d *draft) lose(tool, pointer, why string) { d.lost = append(d.lost, Loss{tool, pointer, why}) }
