package lower

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// forms are what a value must show at first sight for each of the schemas of a union: its kind, the text of one member, which
// is key, and the members that not all of them need.
func (l *lowering) forms(branches []*shape) (key string, forms []model.Form) {
	key, tags := l.telling(branches)
	common := commonNeeds(branches)
	forms = make([]model.Form, len(branches))
	for i, s := range branches {
		f := &forms[i]
		f.Kinds = s.kinds
		if s.kinds&model.KindObject == 0 {
			continue
		}
		f.Tags = tags[i]
		for _, name := range s.obj.required {
			if !slices.Contains(common, name) && (name != key || f.Tags == nil) {
				f.Needs = append(f.Needs, name)
			}
		}
		slices.Sort(f.Needs)
	}
	return key, forms
}

// commonNeeds are the members that all objects need: they tell nothing apart.
func commonNeeds(branches []*shape) []string {
	var common []string
	first := true
	for _, s := range branches {
		if s.kinds&model.KindObject == 0 {
			continue
		}
		if first {
			common, first = slices.Clone(s.obj.required), false
		}
		common = slices.DeleteFunc(common, func(name string) bool { return !slices.Contains(s.obj.required, name) })
	}
	return common
}

// telling finds the property whose constant texts tell the most branches apart, with the texts of each; those of a branch that
// does not require it, or bounds it in another way, are nil.
func (l *lowering) telling(branches []*shape) (key string, tags [][]string) {
	tags = make([][]string, len(branches))
	most := 1
	tried := map[string]bool{}
	for _, s := range branches {
		for _, name := range s.obj.required {
			if s.kinds&model.KindObject == 0 || tried[name] {
				continue
			}
			tried[name] = true
			all := make([][]string, len(branches))
			for i, b := range branches {
				all[i] = l.texts(b, name)
			}
			if n := distinctSets(all); n > most {
				most, key, tags = n, name, all
			}
		}
	}
	return key, tags
}

// texts are what a required property must be one of; nil if that is not a list of strings.
func (l *lowering) texts(s *shape, name string) []string {
	p := s.obj.prop(name)
	if p == nil || s.kinds&model.KindObject == 0 || !slices.Contains(s.obj.required, name) {
		return nil
	}
	v := l.shape(p.schema)
	if v.enum == nil || v.kinds != model.KindString {
		return nil
	}
	all := []string{}
	for _, value := range v.enum.values {
		if value.Kind == schema.String {
			all = append(all, value.Text)
		}
	}
	return all
}

// distinctSets counts the lists of which no two are equal.
func distinctSets(all [][]string) int {
	var seen [][]string
	for _, list := range all {
		if list != nil && !slices.ContainsFunc(seen, func(other []string) bool { return slices.Equal(list, other) }) {
			seen = append(seen, list)
		}
	}
	return len(seen)
}
