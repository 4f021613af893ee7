package reference

import (
	"fmt"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/markdown"
)

// Markdown is the page as Markdown, with diagrams in Mermaid.
func (p *Page) Markdown() []byte {
	w := &markdownWriter{}
	fmt.Fprintf(w, "# %s\n\n", markdown.Text(p.Title))
	w.blocks(p.Blocks)
	return []byte(strings.TrimRight(w.String(), "\n") + "\n")
}

type markdownWriter struct{ strings.Builder }

func (w *markdownWriter) blocks(all []Block) {
	for _, b := range all {
		w.block(b)
		w.WriteString("\n")
	}
}

func (w *markdownWriter) block(b Block) {
	switch b := b.(type) {
	case Heading:
		fmt.Fprintf(w, "<a id=\"%s\"></a>\n\n%s %s\n", b.ID, strings.Repeat("#", b.Level), inline(b.Text))
	case Paragraph:
		w.WriteString(line(b.Text) + "\n")
	case List:
		for _, item := range b.Items {
			w.WriteString("- " + line(item) + "\n")
		}
	case Table:
		w.table(b)
	case Code:
		w.WriteString(markdown.Block(b.Language, b.Text))
	case Details:
		fmt.Fprintf(w, "<details><summary>%s</summary>\n\n", markdown.Text(b.Summary))
		w.blocks(b.Blocks)
		w.WriteString("</details>\n")
	case Diagram:
		fmt.Fprintf(w, "%s\n\n%s", line(text(b.Caption)), markdown.Block("mermaid", mermaid(b.Picture)))
	}
}

func (w *markdownWriter) table(t Table) {
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(t.Head, " | "), strings.Repeat("---|", len(t.Head)))
	for _, row := range t.Rows {
		for _, cell := range row {
			w.WriteString("| " + inline(cell) + " ")
		}
		w.WriteString("|\n")
	}
}

// inline is a text within a line.
func inline(t Text) string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(span(s, spaced(s.Text, markdown.Text)))
	}
	return strings.TrimSpace(b.String())
}

// line is a text at the beginning of a line.
func line(t Text) string { return markdown.Begin(inline(t)) }

// spaced escapes a text and keeps the spaces at its ends, which separate it from other spans.
func spaced(s string, escape func(string) string) string {
	inner := strings.TrimSpace(s)
	if inner == "" {
		return s
	}
	before, after, _ := strings.Cut(s, inner)
	return before + escape(inner) + after
}

func span(s Span, escaped string) string {
	if s.Code {
		escaped = markdown.Code(s.Text)
	}
	if s.Link != "" {
		escaped = "[" + escaped + "](<" + address.Replace(s.Link) + ">)"
	}
	if s.ID != "" {
		escaped = "<a id=\"" + s.ID + "\"></a>" + escaped
	}
	return escaped
}

// address escapes the characters that would end a link's target in Markdown.
var address = strings.NewReplacer("<", "%3C", ">", "%3E", "\\", "%5C", "\n", "", "\r", "", " ", "%20", "|", "%7C")

// mermaid is a picture in the language of Mermaid.
func mermaid(p Picture) string {
	var b strings.Builder
	switch p := p.(type) {
	case States:
		b.WriteString("stateDiagram-v2\n")
		fmt.Fprintf(&b, "  [*] --> %s\n", label(p.Names[0]))
		for _, e := range p.Edges {
			fmt.Fprintf(&b, "  %s --> %s", label(e.From), label(e.To))
			if e.Label != "" {
				b.WriteString(": " + label(e.Label))
			}
			b.WriteString("\n")
		}
		for _, name := range p.ends() {
			fmt.Fprintf(&b, "  %s --> [*]\n", label(name))
		}
	case Sequence:
		fmt.Fprintf(&b, "sequenceDiagram\n  participant %s\n  participant %s\n", label(p.Left), label(p.Right))
		for _, s := range p.Steps {
			from, to, arrow := p.Left, p.Right, "->>"
			if s.Back {
				from, to, arrow = p.Right, p.Left, "-->>"
			}
			fmt.Fprintf(&b, "  %s%s%s: %s\n", label(from), arrow, label(to), label(s.Text))
		}
	}
	return b.String()
}

// label is a text in Mermaid, whose language has no escapes: all but letters, digits and some punctuation is left out.
func label(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("_ ,./-", r):
			return r
		}
		return -1
	}, s)
}

// ends are the states without a transition to another one.
func (s States) ends() (all []string) {
	for _, name := range s.Names {
		if len(s.from(name)) == 0 {
			all = append(all, name)
		}
	}
	return all
}

func (s States) from(name string) (all []Edge) {
	for _, e := range s.Edges {
		if e.From == name {
			all = append(all, e)
		}
	}
	return all
}
