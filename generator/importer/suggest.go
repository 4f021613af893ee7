package importer

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/schema"
)

// suggest adds comments with keywords that would make the schemas stricter. They are guesses: each says what it was concluded from.
func (d *draft) suggest(comments map[*schema.Node][]string) {
	add := func(n *schema.Node, what, because string) {
		if what != "" {
			comments[n] = append(comments[n], "Suggestion: "+what+" ("+because+")")
		}
	}
	for _, m := range d.tools.Members {
		what, because := slow(m.Key, m.Value)
		add(m.Value, what, because)
		for _, key := range []string{"inputSchema", "outputSchema"} {
			suggestProperties(m.Value.Get(key), add)
		}
	}
	for _, m := range d.schemas.Members {
		suggestProperties(m.Value, add)
	}
}

func suggestProperties(root *schema.Node, add func(n *schema.Node, what, because string)) {
	if root == nil {
		return
	}
	schema.EachSchema(root, func(n *schema.Node) *schema.Node {
		for _, m := range members(n.Get("properties")) {
			what, because := tighter(m.Key, m.Value)
			add(m.Value, what, because)
		}
		return n
	})
}

// tighter returns a keyword that a property could have, and why.
func tighter(name string, n *schema.Node) (what, because string) {
	switch textOf(n.Get("type")) {
	case "number":
		return whole(name, n)
	case "string":
		for _, key := range []string{"format", "pattern", "enum", "const", "contentEncoding", "contentMediaType"} {
			if n.Get(key) != nil {
				return "", ""
			}
		}
		return ofFormat(name, n)
	}
	return "", ""
}

// numeric are the keywords of numbers whose values show whether fractions are meant.
var numeric = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "default", "enum", "const", "examples"}

// counts are last words of names of properties that are whole numbers.
var counts = []string{"count", "page", "limit", "offset", "number", "index", "port", "id", "steps", "retries", "lines", "depth", "year", "per"}

// whole suggests integers for a property whose keywords, or else whose name, show no fractions.
func whole(name string, n *schema.Node) (what, because string) {
	var has []string
	for _, key := range numeric {
		v := n.Get(key)
		if v == nil {
			continue
		}
		values := []*schema.Node{v}
		if v.Kind == schema.Array {
			values = v.Items
		}
		for _, one := range values {
			if r := one.Rat(); r == nil || !r.IsInt() {
				return "", ""
			}
		}
		has = append(has, key)
	}
	switch {
	case len(has) > 0:
		return "type: integer", strings.Join(has, ", ") + " without fractions"
	case slices.Contains(counts, lastWord(name)):
		return "type: integer", "by its name"
	}
	return "", ""
}

// formats are recognized by names and descriptions; the first match counts.
var formats = []struct {
	format string
	match  format.Format
	words  []string              // last words of names
	about  func() *regexp.Regexp // matches descriptions
}{
	{"date", format.Date, []string{"date", "day", "birthday"}, lazyregexp.New(`(?i)\bYYYY-MM-DD\b(?:[^T]|$)`)},
	{"date-time", format.DateTime, []string{"timestamp", "datetime", "at", "since", "until"}, lazyregexp.New(`(?i)\bISO[ -]?8601\b|\bRFC ?3339\b|YYYY-MM-DDT`)},
	{"uri", format.URI, []string{"url", "uri", "href", "homepage", "webhook"}, lazyregexp.New(`^(?:The )?UR[LI]\b`)},
	{"email", format.Email, []string{"email", "mail"}, lazyregexp.New(`(?i)^(?:the )?e-?mail address\b`)},
	{"uuid", format.UUID, []string{"uuid", "guid"}, lazyregexp.New(`\bUUID\b`)},
}

// ofFormat suggests a format that the description, or else the name, of a property speaks of, unless the default does not have it.
func ofFormat(name string, n *schema.Node) (what, because string) {
	about := textOf(n.Get("description"))
	for pass, reason := range []string{"by its description", "by its name"} {
		for _, f := range formats {
			if pass == 0 && f.about().MatchString(about) || pass == 1 && slices.Contains(f.words, lastWord(name)) {
				if v := n.Get("default"); v.Is(schema.String) && !f.match.Match(v.Text) {
					return "", ""
				}
				return "format: " + f.format, reason
			}
		}
	}
	return "", ""
}

func lastWord(name string) (last string) {
	for _, word := range naming.Each(name) {
		last = strings.ToLower(word)
	}
	return last
}

// long matches names and descriptions of tools that take long.
var long = lazyregexp.New(`(?i)\b(long[- ]running|takes (?:a while|several|some|minutes|hours|long)|in the background|asynchronous(?:ly)?|deep research|may take|batch job)\b`)

// slow suggests task support for a tool that seems to take long, and returns why.
func slow(name string, tool *schema.Node) (what, because string) {
	if s := textOf(tool.Get("execution").Get("taskSupport")); s == "optional" || s == "required" {
		return "", ""
	}
	for _, said := range []string{textOf(tool.Get("description")), strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' }), " ")} {
		if word := long().FindString(said); word != "" {
			return "execution: {taskSupport: optional}", "it says " + strings.ToLower(word)
		}
	}
	return "", ""
}
