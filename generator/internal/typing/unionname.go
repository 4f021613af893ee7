package typing

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
)

// memberWord is what the name of a member adds to the union's. It is the first of these that no other member has: its title, tag,
// kind, a property that it requires or has, all that it requires. The last resort is its number.
func memberWord(branches []branch, i int, tags []string) string {
	b := branches[i].shape
	if tags != nil {
		return firstWord(titleWord(branches, i), constWord(tags[0]))
	}
	kinds := b.kinds &^ model.KindNull
	if others(branches, i, func(s *shape) bool { return s.kinds&kinds != 0 }) {
		return firstWord(titleWord(branches, i), requiredWord(branches, i), propertyWord(branches, i), allWord(branches, i), "Option"+itoa(i))
	}
	return firstWord(titleWord(branches, i), kindWord(kinds, b.integer))
}

// others reports whether is holds for any branch but the one at i.
func others(branches []branch, i int, is func(*shape) bool) bool {
	for j := range branches {
		if j != i && is(branches[j].shape) {
			return true
		}
	}
	return false
}

func firstWord(all ...string) string {
	return all[slices.IndexFunc(all, func(word string) bool { return word != "" })]
}

// maxTitle is the most words of a title that becomes a name; a longer one is a sentence.
const maxTitle = 5

func titleWord(branches []branch, i int) string {
	title := branches[i].shape.annotations.title
	word := naming.GoWords(title)
	if len(naming.Words(title)) > maxTitle || others(branches, i, func(s *shape) bool { return naming.GoWords(s.annotations.title) == word }) {
		return ""
	}
	return word
}

// requiredWord is ByID for the only branch that requires id.
func requiredWord(branches []branch, i int) string {
	for _, key := range branches[i].shape.obj.required {
		if word := naming.GoWords(key); word != "" && !others(branches, i, func(s *shape) bool { return slices.Contains(s.obj.required, key) }) {
			return "By" + word
		}
	}
	return ""
}

// propertyWord is WithID for the only branch that has id.
func propertyWord(branches []branch, i int) string {
	for _, p := range branches[i].shape.obj.props {
		if word := naming.GoWords(p.key); word != "" && !others(branches, i, func(s *shape) bool { return s.obj.prop(p.key) != nil }) {
			return "With" + word
		}
	}
	return ""
}

// allWord is ByIDAndName for the only branch that requires these and no more.
func allWord(branches []branch, i int) string {
	word := requires(branches[i].shape)
	if others(branches, i, func(s *shape) bool { return requires(s) == word }) {
		return ""
	}
	return word
}

func requires(s *shape) string {
	if len(s.obj.required) == 0 || len(s.obj.required) > maxTitle {
		return ""
	}
	name := "By"
	for i, key := range s.obj.required {
		if i > 0 {
			name += "And"
		}
		name += naming.GoWords(key)
	}
	return name
}
