package markdown_test

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/markdown"
)

func begin(s string) string { return markdown.Begin(markdown.Text(s)) }

func TestTextsStayTexts(t *testing.T) {
	for _, c := range []struct {
		write    func(string) string
		in, want string
	}{
		{markdown.Text, "a\\|b", `a\\\|b`},
		{markdown.Text, "<script>&amp;", "&lt;script&gt;&amp;amp;"},
		{markdown.Text, "[x](y) *a* _b_ `c` $d$ ~~e~~", "\\[x\\](y) \\*a\\* \\_b\\_ \\`c\\` \\$d\\$ \\~\\~e\\~\\~"},
		{markdown.Text, "a\n\n# b\u202e\x1b", "a # b"},
		{begin, "# a", `\# a`},
		{begin, "- a", `\- a`},
		{begin, "12. a", `12\. a`},
		{begin, "12", `12`},
		{begin, "1) a", `1\) a`},
		{markdown.Code, "a b", "`a b`"},
		{markdown.Code, "", ""},
		{markdown.Code, "a`|b", "<code>a&#96;&#124;b</code>"},
		{markdown.Code, "a\nb", "`a b`"},
		{func(s string) string { return markdown.Block("json", s) }, "{\n```\n}\n\n", "````json\n{\n```\n}\n````\n"},
	} {
		if got := c.write(c.in); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}
