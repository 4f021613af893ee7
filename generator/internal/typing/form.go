package typing

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// forms returns what is compared before each branch of a group is tried: the kind of the value, the constant in the member key, and the
// members that the branch requires, except those that all branches require. If these do not distinguish branches, the kind of the member kindKey may.
func (l *lowering) forms(branches []*shape) (key, kindKey string, forms []model.Form) {
	key, tags := l.discriminator(branches)
	common := l.commonNeeds(branches, deepest)
	forms = make([]model.Form, len(branches))
	for i, s := range branches {
		f := &forms[i]
		f.Title, f.Kinds, f.Integer = s.annotations.title, s.kinds, s.integer
		if s.kinds&model.KindObject == 0 {
			continue
		}
		f.Tags = tags[i]
		for _, name := range l.needs(s, deepest) {
			if !slices.Contains(common, name) && (name != key || f.Tags == nil) {
				f.Needs = append(f.Needs, name)
			}
		}
		slices.Sort(f.Needs)
	}
	if key == "" && !slices.ContainsFunc(forms, func(f model.Form) bool { return f.Needs != nil }) {
		kindKey = l.kindKey(branches, common, forms)
	}
	return key, kindKey, forms
}

// kindKey returns the member whose kind distinguishes the most pairs of branches, of those that all branches require, and sets its kinds in forms; "" if
// none does.
func (l *lowering) kindKey(branches []*shape, common []string, forms []model.Form) (key string) {
	most := 0
	for _, name := range common {
		kinds := make([]model.Kind, len(branches))
		for i, s := range branches {
			if p := s.obj.prop(name); p != nil && s.kinds&model.KindObject != 0 {
				kinds[i] = l.shape(p.schema).kinds
			}
		}
		n := disjointPairs(kinds)
		if n <= most {
			continue
		}
		most, key = n, name
		for i := range forms {
			if forms[i].KeyKinds = kinds[i]; kinds[i] == model.KindAny {
				forms[i].KeyKinds = 0
			}
		}
	}
	return key
}

// disjointPairs counts the pairs that have no kind in common. An empty set is of a branch that is not compared.
func disjointPairs(kinds []model.Kind) int {
	n := 0
	for i, a := range kinds {
		for _, b := range kinds[:i] {
			if a&b == 0 && a != 0 && b != 0 {
				n++
			}
		}
	}
	return n
}

// deepest is how many levels of groups within groups are searched.
const deepest = 2

// needs returns the members that s requires of an object, itself or in all branches of a group in it.
func (l *lowering) needs(s *shape, depth int) []string {
	needs := s.obj.required
	if depth == 0 {
		return needs
	}
	for _, g := range s.groups {
		for _, name := range l.commonNeeds(l.shapes(g), depth-1) {
			if !slices.Contains(needs, name) {
				needs = append(slices.Clip(needs), name)
			}
		}
	}
	return needs
}

// shapes returns the shapes of the branches of g.
func (l *lowering) shapes(g group) []*shape {
	all := make([]*shape, len(g.branches))
	for i, b := range g.branches {
		all[i] = l.shape(allOf{b})
	}
	return all
}

// commonNeeds returns the members that all branches require.
func (l *lowering) commonNeeds(branches []*shape, depth int) []string {
	var common []string
	first := true
	for _, s := range branches {
		if s.kinds&model.KindObject == 0 {
			continue
		}
		needs := l.needs(s, depth)
		if first {
			common, first = slices.Clone(needs), false
		}
		common = slices.DeleteFunc(common, func(name string) bool { return !slices.Contains(needs, name) })
	}
	return common
}

// discriminator returns the property whose constants distinguish the most branches, with the constants of each branch; nil for a branch
// that does not require the property or lists no constants.
func (l *lowering) discriminator(branches []*shape) (key string, tags [][]model.Tag) {
	tags = make([][]model.Tag, len(branches))
	most := 1
	names, required := l.neededBySome(branches)
	for _, name := range names {
		if required[name] <= most {
			continue // it can not distinguish more
		}
		all := make([][]model.Tag, len(branches))
		for i, b := range branches {
			all[i] = l.tags(b, name, deepest)
		}
		if n := distinctSets(all); n > most {
			most, key, tags = n, name, all
		}
	}
	return key, tags
}

// neededBySome returns the members that any of the branches require of objects, and how many branches require each.
func (l *lowering) neededBySome(branches []*shape) (names []string, by map[string]int) {
	by = map[string]int{}
	for _, s := range branches {
		if s.kinds&model.KindObject == 0 {
			continue
		}
		for _, name := range l.needs(s, deepest) {
			if by[name]++; by[name] == 1 {
				names = append(names, name)
			}
		}
	}
	return names, by
}

// tags returns the constants that s, or the branches of a group in it, allow for a required property; nil if the property has no enum or const, or
// one with a value that can not be a tag.
func (l *lowering) tags(s *shape, name string, depth int) []model.Tag {
	if p := s.obj.prop(name); p != nil && s.kinds&model.KindObject != 0 && slices.Contains(s.obj.required, name) {
		if v := l.shape(p.schema); v.enum != nil && v.kinds&(model.KindArray|model.KindObject) == 0 {
			return tagsIn(v.enum.values, v.kinds)
		}
	}
	for _, g := range s.groups {
		if depth == 0 {
			break
		}
		if all := l.tagsOfAll(l.shapes(g), name, depth-1); all != nil {
			return all
		}
	}
	return nil
}

// tagsOfAll returns the tags of all branches that allow objects; nil if one of them has none.
func (l *lowering) tagsOfAll(branches []*shape, name string, depth int) []model.Tag {
	var all []model.Tag
	for _, b := range branches {
		if b.kinds&model.KindObject == 0 {
			continue
		}
		tags := l.tags(b, name, depth)
		if tags == nil {
			return nil
		}
		all = append(all, tags...)
	}
	return all
}

// tagsIn returns the values that are of one of kinds, as tags; nil if one of these can not be a tag.
func tagsIn(values []*schema.Node, kinds model.Kind) []model.Tag {
	all := []model.Tag{}
	for _, v := range values {
		if kindOf[v.Kind]&kinds == 0 {
			continue
		}
		tag, ok := tagOf(v)
		if !ok {
			return nil
		}
		if !slices.Contains(all, tag) {
			all = append(all, tag)
		}
	}
	return all
}

// tagOf returns a constant in the form that check.AppendCanonical writes; false for a number that it writes with an exponent.
func tagOf(v *schema.Node) (model.Tag, bool) {
	switch v.Kind {
	case schema.String:
		return model.Tag{Text: v.Text}, true
	case schema.Number:
		x := v.Rat()
		if x == nil {
			return model.Tag{}, false
		}
		size := new(big.Rat).Abs(x)
		if size.Sign() != 0 && size.Cmp(smallestTag) < 0 || size.Cmp(largestTag) > 0 {
			return model.Tag{}, false
		}
		text := Decimal(x)
		return model.Tag{Text: text, JSON: true}, !strings.Contains(text, "e")
	}
	return model.Tag{Text: string(v.JSON()), JSON: true}, true
}

// Numbers between these have no exponent in canonical form.
var smallestTag, largestTag = big.NewRat(1, 1_000_000), big.NewRat(1e18, 1)

// distinctSets counts the different lists of tags.
func distinctSets(all [][]model.Tag) int {
	seen := map[string]bool{}
	for _, list := range all {
		if list != nil {
			seen[fmt.Sprintf("%#v", list)] = true
		}
	}
	return len(seen)
}
