package importer

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/schema"
)

// prove compares what tools/list would show of each tool with the source. It returns how many are the same JSON, and adds differences that are not
// among the losses yet.
func (d *draft) prove(r *generator.Result) (same int) {
	advertised := map[string]*schema.Node{}
	for _, text := range r.ToolList(d.source.Revision) {
		if n, ds := schema.ParseJSON("", []byte(text)); !ds.HasErrors() {
			advertised[textOf(n.Get("name"))] = n
		}
	}
	for _, t := range d.source.Tools {
		name := t.Get("name").Text
		got := advertised[name]
		if got != nil && schema.Equal(got, t) {
			same++
			continue
		}
		d.explain(name, got, t)
	}
	return same
}

// explain adds the differences of a tool to the losses.
func (d *draft) explain(name string, got, want *schema.Node) {
	if got == nil {
		if !slices.ContainsFunc(d.lost, func(l Loss) bool { return l.Tool == name && l.Pointer == "" }) {
			d.lose(name, "", "the tool is not advertised")
		}
		return
	}
	for _, at := range differences(got, want, "") {
		known := func(l Loss) bool {
			return l.Tool == name && (at == l.Pointer || strings.HasPrefix(at, l.Pointer+"/") || strings.HasPrefix(l.Pointer, at+"/"))
		}
		if !slices.ContainsFunc(d.lost, known) {
			d.lose(name, at, different(got.Lookup(at), want.Lookup(at)))
		}
	}
}

func different(got, want *schema.Node) string {
	switch {
	case got == nil:
		return "it is not advertised"
	case want == nil:
		return "it is advertised, and the source does not have it"
	}
	return "it is advertised as " + excerpt(got) + ", the source has " + excerpt(want)
}

// excerpt returns the beginning of a value.
func excerpt(n *schema.Node) string {
	const most = 60
	text := n.JSON()
	for end, runes := 0, 0; end < len(text); runes++ {
		if runes == most {
			return string(text[:end]) + "…"
		}
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	return string(text)
}

// differences returns pointers to the smallest parts that differ.
func differences(a, b *schema.Node, at string) (all []string) {
	if !a.Is(schema.Object) || !b.Is(schema.Object) {
		if !schema.Equal(a, b) {
			all = append(all, at)
		}
		return all
	}
	for _, m := range a.Members {
		pointer := at + "/" + schema.EscapeToken(m.Key)
		if other := b.Get(m.Key); other != nil {
			all = append(all, differences(m.Value, other, pointer)...)
		} else {
			all = append(all, pointer)
		}
	}
	for _, m := range b.Members {
		if a.Get(m.Key) == nil {
			all = append(all, at+"/"+schema.EscapeToken(m.Key))
		}
	}
	return all
}
