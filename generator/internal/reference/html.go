package reference

import (
	_ "embed"
	"fmt"
	"html"
	"net/url"
	"strings"
	"unicode"
)

// style is the style sheet of the page, for light and dark color schemes.
//
//go:embed style.css
var style string

// policy is the page's Content-Security-Policy: whatever the text of the manifest is, nothing is loaded or run.
const policy = `default-src 'none'; style-src 'unsafe-inline'`

// HTML is the page as one file, without scripts and resources to load.
func (p *Page) HTML() []byte {
	w := &htmlWriter{}
	fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n<meta http-equiv=\"Content-Security-Policy\" content=\"%s\" />\n"+
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n<title>%s</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>%s</h1>\n",
		policy, escape(p.Title), style, escape(p.Title))
	w.blocks(p.Blocks)
	w.WriteString("</main>\n</body>\n</html>\n")
	return []byte(w.String())
}

type htmlWriter struct{ strings.Builder }

func (w *htmlWriter) blocks(all []Block) {
	for _, b := range all {
		w.block(b)
	}
}

func (w *htmlWriter) block(b Block) {
	switch b := b.(type) {
	case Heading:
		fmt.Fprintf(w, "<h%d id=\"%s\">%s</h%d>\n", b.Level, escape(b.ID), markup(b.Text), b.Level)
	case Paragraph:
		fmt.Fprintf(w, "<p>%s</p>\n", markup(b.Text))
	case List:
		w.WriteString("<ul>\n")
		for _, item := range b.Items {
			fmt.Fprintf(w, "<li>%s</li>\n", markup(item))
		}
		w.WriteString("</ul>\n")
	case Table:
		w.table(b)
	case Code:
		fmt.Fprintf(w, "<pre><code>%s</code></pre>\n", escape(strings.TrimRight(b.Text, "\n")))
	case Details:
		fmt.Fprintf(w, "<details>\n<summary>%s</summary>\n", escape(b.Summary))
		w.blocks(b.Blocks)
		w.WriteString("</details>\n")
	case Diagram:
		fmt.Fprintf(w, "<figure>\n%s<figcaption>%s</figcaption>\n</figure>\n", svg(b.Picture, b.Caption), escape(b.Caption))
	}
}

func (w *htmlWriter) table(t Table) {
	w.WriteString("<div class=\"wide\"><table>\n<thead><tr>")
	for _, h := range t.Head {
		fmt.Fprintf(w, "<th>%s</th>", escape(h))
	}
	w.WriteString("</tr></thead>\n<tbody>\n")
	for _, row := range t.Rows {
		w.WriteString("<tr>")
		for _, cell := range row {
			fmt.Fprintf(w, "<td>%s</td>", markup(cell))
		}
		w.WriteString("</tr>\n")
	}
	w.WriteString("</tbody>\n</table></div>\n")
}

func markup(t Text) string {
	var b strings.Builder
	for _, s := range t {
		inner := escape(s.Text)
		if s.Code {
			inner = "<code>" + inner + "</code>"
		}
		if s.Link != "" {
			inner = fmt.Sprintf("<a href=\"%s\" rel=\"noreferrer\">%s</a>", escape(s.Link), inner)
		}
		if s.ID != "" {
			inner = fmt.Sprintf("<a id=\"%s\"></a>%s", escape(s.ID), inner)
		}
		b.WriteString(inner)
	}
	return b.String()
}

// escape writes a text into HTML, between tags or quotes. Characters that HTML does not allow, and bidirectional controls, are left out.
func escape(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == '\ufffe' || r == '\uffff' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd")))
}

// webPage is an address that a page may link to; empty for any other.
func webPage(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return u.String()
}
