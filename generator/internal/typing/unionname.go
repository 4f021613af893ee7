package typing

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
)

// memberWords finds the word that the name of each member adds to the name of its union. It counts how many members have each word.
type memberWords struct {
	branches                          []branch
	kinds                             map[model.Kind]int
	titles, required, properties, all map[string]int
}

func newMemberWords(branches []branch) *memberWords {
	w := &memberWords{branches, map[model.Kind]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}}
	for _, b := range branches {
		s := b.shape
		for _, kind := range []model.Kind{model.KindString, model.KindNumber, model.KindBool, model.KindArray, model.KindObject} {
			if s.kinds&kind != 0 {
				w.kinds[kind]++
			}
		}
		w.titles[naming.GoWords(s.annotations.title)]++
		w.all[requires(s)]++
		for _, key := range slices.Compact(slices.Sorted(slices.Values(s.obj.required))) {
			w.required[key]++
		}
		for _, p := range s.obj.props {
			w.properties[p.key]++
		}
	}
	return w
}

// of is the word of a member. It is the first of these that no other member has: its title, tag, kind, a property that it requires or
// has, all that it requires. The last resort is its number. tagged is the word of its tag (tagWord), if members are found by a tag.
func (w *memberWords) of(i int, tagged string) string {
	s := w.branches[i].shape
	title := w.title(s)
	if tagged != "" {
		return firstWord(title, tagged)
	}
	kinds := s.kinds &^ model.KindNull
	for kind, n := range w.kinds {
		if kinds&kind != 0 && n > 1 {
			return firstWord(title, w.requiredOne(s), w.property(s), w.allRequired(s), "Option"+ordinal(i))
		}
	}
	return firstWord(title, kindWord(kinds, s.integer))
}

// tagWord is the word of a form with that tag: Circle. A number, true, false or null says little without its key: Version1.
func tagWord(key string, tag model.Tag) string {
	if tag.JSON {
		return naming.GoWords(key) + mixedWord(tag.Text)
	}
	return constWord(tag.Text)
}

func firstWord(all ...string) string {
	return all[slices.IndexFunc(all, func(word string) bool { return word != "" })]
}

// maxTitle is the most words of a title that becomes a name; a longer one is a sentence.
const maxTitle = 5

// title is the title of a branch as a word; empty if another branch has the same, or it is too long.
func (w *memberWords) title(s *shape) string {
	title := s.annotations.title
	word := naming.GoWords(title)
	if len(naming.Words(title)) > maxTitle || w.titles[word] > 1 {
		return ""
	}
	return word
}

// requiredOne is a word such as ByID, for the only branch that requires id.
func (w *memberWords) requiredOne(s *shape) string {
	for _, key := range s.obj.required {
		if word := naming.GoWords(key); word != "" && w.required[key] == 1 {
			return "By" + word
		}
	}
	return ""
}

// property is a word such as WithID, for the only branch that has the property id.
func (w *memberWords) property(s *shape) string {
	for _, p := range s.obj.props {
		if word := naming.GoWords(p.key); word != "" && w.properties[p.key] == 1 {
			return "With" + word
		}
	}
	return ""
}

// allRequired is a word such as ByIDAndName, for the only branch that requires these and no more.
func (w *memberWords) allRequired(s *shape) string {
	if word := requires(s); w.all[word] == 1 {
		return word
	}
	return ""
}

// requires is a word for all properties that s requires; empty for none or too many.
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
