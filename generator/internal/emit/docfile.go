package emit

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/templates"
)

// packageDoc is the data of package.tmpl; every line of the manifest has gone through commentLines.
type packageDoc struct {
	Name             string
	Header           string
	Intro            []string
	Tools, Methods   []string // one item of a list each, continued on lines of its own
	Tasks, Questions bool
	Parts            bool     // tools are divided over packages
	Resources        bool     // clients can be notified that one has changed
	Text             bool     // a tool returns content, which TextResult makes
	Union            string   // a union as an example
	Forms            []string // the Go types of some of its members
	Durations        bool     // a type holds a time.Duration
	// Handshake and Stateless say which kinds of revisions are served.
	Handshake, Stateless bool
	Undecided            bool // without a session, whether a call fails because the client can not be asked is only known at its end
}

// docFile emits the package's doc: its tools with their policies, which say all limits (TSK22).
func docFile(pkg *model.Package) ([]File, error) {
	doc := packageDoc{
		Name:      pkg.Name,
		Header:    Header,
		Intro:     commentLines("Package " + pkg.Name + " is the MCP server " + pkg.Server.Name + " as " + pkg.Manifest + " describes it: typed handlers, validators, cancellation and tasks."),
		Tasks:     pkg.Needs.Tasks,
		Parts:     pkg.Parts != nil,
		Questions: pkg.Needs.Questions || len(pkg.Sends) > 0,
		Resources: pkg.Needs.ResourceUpdated,
	}
	for _, w := range pkg.Wires {
		doc.Handshake = doc.Handshake || w.Handshake
		doc.Stateless = doc.Stateless || !w.Handshake
	}
	for _, t := range pkg.Tools {
		doc.Undecided = doc.Undecided || doc.Stateless && mustAsk(&t.Asker)
		doc.Tools = append(doc.Tools, listItem(t.Name+" ("+t.GoName+"): "+strings.Join(t.Policy, " ")))
	}
	doc.Text = pkg.Needs.Results && pkg.Result.Text.Block != ""
	doc.Union, doc.Forms = exampleUnion(pkg)
	doc.Durations = slices.ContainsFunc(pkg.Decls, holdsDuration)
	for _, m := range pkg.Methods {
		doc.Methods = append(doc.Methods, listItem(m.Name+": Handlers."+m.GoName))
	}
	for _, n := range pkg.NoticesTaken {
		doc.Methods = append(doc.Methods, listItem(n.Name+": Handlers."+n.GoName))
	}
	for _, h := range pkg.Entries {
		doc.Undecided = doc.Undecided || doc.Stateless && mustAsk(&h.Asker)
		item := h.Entry + ": Handlers." + h.GoName
		if len(h.Policy) > 0 {
			item += ". " + strings.Join(h.Policy, " ")
		}
		doc.Methods = append(doc.Methods, listItem(item))
	}
	for _, send := range pkg.Sends {
		doc.Methods = append(doc.Methods, listItem(send.Name+": "+send.GoName+" asks the client."))
	}
	text, err := templates.Execute("package.tmpl", doc)
	return one("doc.gen.go", []byte(text), err)
}

// exampleUnion is the first union of a package, with the Go types of some of its members.
func exampleUnion(pkg *model.Package) (name string, forms []string) {
	for _, d := range pkg.Decls {
		if u, ok := d.Body.(*model.Union); ok {
			for _, m := range u.Members[:min(3, len(u.Members))] {
				forms = append(forms, m.TypeName())
			}
			return d.Name, forms
		}
	}
	return "", nil
}

// holdsDuration reports whether d has a field or an element of type time.Duration.
func holdsDuration(d *model.Decl) bool {
	switch b := d.Body.(type) {
	case *model.Struct:
		return isDuration(&b.AdditionalValue) || slices.ContainsFunc(b.Props, func(p *model.Prop) bool { return isDuration(&p.Value) })
	case *model.Defined:
		return isDuration(&b.Value)
	case *model.Element:
		return isDuration(&b.Value)
	}
	return false
}

func isDuration(v *model.Value) bool {
	f, ok := v.Type.(model.Formatted)
	return ok && f.Name == "Duration"
}

// listItem wraps text into the lines of one item: the first without slashes, the others indented below it. Paragraphs are
// joined: gofmt would find lists and headings among several.
func listItem(text string) string {
	lines := commentLines(strings.Join(strings.Fields(harmless(text)), " "))
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "// ")
	}
	return strings.Join(lines, "\n//     ")
}
