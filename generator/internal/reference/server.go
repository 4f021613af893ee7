package reference

import (
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// Server is the input of a page.
type Server struct {
	Manifest  *manifest.Manifest
	Package   *model.Package
	Revisions []*revision.Revision // the served ones
}

// Make makes the page of a server.
func Make(s Server) *Page {
	m := &maker{Server: s, ids: map[string]bool{}}
	about := s.Package.Server
	title := about.Title
	if title == "" {
		title = about.Name
	}
	m.page.Title = title
	m.introduction()
	contents := len(m.page.Blocks)
	m.tools()
	m.entries()
	m.protocol()
	if len(m.contents) > 0 {
		m.page.Blocks = append(m.page.Blocks[:contents:contents], append([]Block{List{m.contents}}, m.page.Blocks[contents:]...)...)
	}
	return &m.page
}

type maker struct {
	Server
	page     Page
	ids      map[string]bool
	contents []Text
}

func (m *maker) add(all ...Block) { m.page.Blocks = append(m.page.Blocks, all...) }

// paragraphs adds a description of the manifest, divided at its empty lines.
func (m *maker) paragraphs(s string) {
	for _, p := range strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			m.add(Paragraph{text(p)})
		}
	}
}

// say adds a paragraph, unless it is empty.
func (m *maker) say(t Text) {
	if len(t) > 0 {
		m.add(Paragraph{t})
	}
}

// section begins a part of the page that the list of contents names.
func (m *maker) section(id, title string) {
	id = m.id(id)
	m.contents = append(m.contents, Text{{Text: title, Link: "#" + id}})
	m.add(Heading{2, id, text(title)})
}

// entry begins the section of an entry, with a link in the list of contents.
func (m *maker) entry(kind, name string) {
	id := m.id(kind + "-" + name)
	last := &m.contents[len(m.contents)-1]
	separator := ", "
	if len(*last) == 1 {
		separator = ": "
	}
	*last = append(*last, Span{Text: separator}, Span{Text: name, Code: true, Link: "#" + id})
	m.add(Heading{3, id, code(name)})
}

// id makes an anchor of a name; no two anchors of the page are equal.
func (m *maker) id(name string) string {
	made := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_':
			return r
		}
		return '-'
	}, name)
	for m.ids[made] {
		made += "-"
	}
	m.ids[made] = true
	return made
}

func (m *maker) introduction() {
	about, says := m.Package.Server, m.Manifest.Server
	m.paragraphs(says.Description.Value)
	rows := [][]Text{{text("name"), code(about.Name)}, {text("version"), code(about.Version)}}
	if page := says.WebsiteURL.Value; webPage(page) != "" {
		rows = append(rows, []Text{text("website"), {{Text: page, Link: webPage(page)}}})
	}
	var names []Text
	for _, r := range m.Revisions {
		names = append(names, code(r.Name))
	}
	rows = append(rows, []Text{text("protocol revisions"), join(", ", names...)})
	if len(m.Package.Extensions) > 0 {
		var all []Text
		for _, e := range m.Package.Extensions {
			all = append(all, code(e))
		}
		rows = append(rows, []Text{text("extensions"), join(", ", all...)})
	}
	m.add(Table{[]string{"server", ""}, rows})
	if i := about.Instructions; i != "" {
		m.add(Paragraph{text("What it tells the model:")})
		m.paragraphs(i)
	}
}

// schemaOf adds what a schema allows: the sentence what and a table of the members, or the sentence none if the schema names no members; then,
// unless the table says everything, the whole schema.
func (m *maker) schemaOf(d *schema.Document, what, none string) {
	if d == nil {
		m.say(text(none))
		return
	}
	t := tableOf(d, m.id)
	if t == nil {
		m.say(text(none))
	} else {
		m.add(Paragraph{text(what)}, *t)
	}
	if t != nil || len(membersOf(d.Root)) > 1 {
		m.add(Details{"The whole schema", []Block{Code{"json", pretty(d.Bundle())}}})
	}
}

// pretty is JSON for people.
func pretty(n *schema.Node) string { return indented(string(n.JSON())) }
