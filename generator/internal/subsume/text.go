package subsume

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
	"github.com/mcpkiln/mcpkiln/schema"
)

// texts is what is known of a string.
type texts struct {
	patterns []expression
	formats  []formatted
}

// expression is a pattern that a text has to match, or must not match.
type expression struct {
	source  string // in the syntax of RE2
	matches bool
}

// formatted is a format that a text has to have, or must not have.
type formatted struct {
	name string
	has  bool
}

func (a atom) pattern() choice {
	re2, err := pattern.RE2(a.value.Text)
	if err != nil {
		return unknown("a pattern that is not understood")
	}
	return note(func(f *facts) { f.text.patterns = append(slices.Clip(f.text.patterns), expression{re2, a.holds}) })
}

func (a atom) format() choice {
	switch _, known := formats[a.value.Text]; {
	case known:
		return note(func(f *facts) { f.text.formats = append(slices.Clip(f.text.formats), formatted{a.value.Text, a.holds}) })
	case a.holds:
		return always
	}
	return never // an unknown format refuses nothing
}

// empty reports whether it is plain that no string of that length fits.
func (t *texts) empty(size span) bool {
	for _, f := range t.formats {
		if !f.has {
			continue
		}
		if size.and(formats[f.name].size).empty() {
			return true
		}
		for _, g := range t.formats {
			if !g.has && includes(g.name, f.name) {
				return true
			}
		}
	}
	for _, p := range t.patterns {
		if slices.Contains(t.patterns, expression{p.source, !p.matches}) {
			return true
		}
	}
	return false
}

// text looks for a string: among examples of its formats, else a shortest one that the patterns, and the shapes of the formats, allow.
func (s *solver) text(b branch) outcome {
	for _, example := range b.text.examples(b.size) {
		if o := s.check(b.goal, text(example)); o.answer == some {
			return o
		}
	}
	taken := b.excluded
	patterns := b.text.shaped()
	for range mostTexts {
		word, found := shortest(patterns, b.size, taken)
		if found != some {
			if found == none && len(taken) == len(b.excluded) {
				return outcome{}
			}
			break
		}
		if o := s.check(b.goal, text(word)); o.answer == some {
			return o
		}
		taken = append(slices.Clip(taken), text(word))
	}
	return s.undecided(b.because("formats and patterns together"))
}

// shaped returns the patterns of t and the shapes of its formats. A format that the text must not have adds its shape only if that is exact.
func (t *texts) shaped() []expression {
	all := slices.Clone(t.patterns)
	for _, f := range t.formats {
		if row := formats[f.name]; row.shape != "" && (f.has || row.exact) {
			all = append(all, expression{row.shape, f.has})
		}
	}
	return all
}

// mostTexts is how many texts that match the patterns are tried.
const mostTexts = 8

// examples returns strings that have a format of t, or do not have it, as t demands.
func (t *texts) examples(size span) (all []string) {
	if size.least < 1<<20 {
		all = append(all, strings.Repeat("a", size.least), strings.Repeat("b", size.least))
	}
	for _, f := range t.formats {
		row := formats[f.name]
		if !f.has {
			all = append(all, row.unlike...)
			all = append(all, strings.Repeat(row.unlike[0], max(1, min(size.least, 1000))))
			continue
		}
		for n := range 16 {
			all = append(all, row.like(n))
		}
		fit := size.and(row.size)
		for _, n := range []int{fit.least, fit.most} {
			if !fit.empty() && n < 1000 {
				all = append(all, sized(row, n)...)
			}
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return !size.holds(utf8.RuneCountInString(s)) })
}

// sized returns the examples of a format that have n characters.
func sized(row formatRow, n int) (all []string) {
	for grown := range n + 1 {
		if s := row.like(grown); utf8.RuneCountInString(s) == n {
			all = append(all, s)
		}
	}
	return all
}

// excludedTexts are the texts of string nodes.
func excludedTexts(values []*schema.Node) (all []string) {
	for _, v := range values {
		all = append(all, v.Text)
	}
	return all
}
