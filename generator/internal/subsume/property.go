package subsume

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
	"github.com/mcpkiln/mcpkiln/schema"
)

// members is what is known of an object.
type members struct {
	rules   []classDemand // every property of a class has to meet them
	demands []classDemand // some property of a class has to meet each
	names   []literal     // every name has to meet them
	absent  []string      // properties that the object lacks
}

// classDemand is a demand on the properties of a class: on all of them if it is a rule, else on one of them.
type classDemand struct {
	names
	value []literal // literals that the value of the property has to meet
	name  []literal // literals that its name has to meet
}

// names is a class of properties: those that are listed, or match a pattern; or with others, all but those.
type names struct {
	listed   []string
	patterns []string // of ECMA-262
	others   bool
}

func named(name string) names { return names{listed: []string{name}} }

// exact returns the name of the only property in the class, if it is one name.
func (n *names) exact() (string, bool) {
	if n.others || len(n.patterns) > 0 || len(n.listed) != 1 {
		return "", false
	}
	return n.listed[0], true
}

// has reports whether a name is of the class.
func (n *names) has(name string) bool {
	return n.others != (slices.Contains(n.listed, name) || slices.ContainsFunc(n.patterns, func(p string) bool { return matches(p, name) }))
}

func matches(text, name string) bool {
	re, err := pattern.Compile(text)
	return err == nil && re.MatchString(name)
}

// class demands that n holds for a class of properties, or if the atom is negated, that it does not hold for one of them.
func (a atom) class(n *schema.Node, c names) option {
	m := classDemand{names: c, value: []literal{a.sub(n, a.holds)}}
	if !a.holds {
		return has(m)
	}
	return option{{note: func(f *facts) { f.object.rules = append(slices.Clip(f.object.rules), m) }}}
}

// classes joins the demands on several classes: all have to be met, or if the atom is negated, one of them.
func (a atom) classes(all []option) choice {
	if a.holds {
		return choice{slices.Concat(all...)}
	}
	return all
}

func (a atom) properties() choice {
	var all []option
	for _, m := range a.value.Members {
		all = append(all, a.class(m.Value, named(m.Key)))
	}
	return a.classes(all)
}

func (a atom) patternProperties() choice {
	var all []option
	for _, m := range a.value.Members {
		all = append(all, a.class(m.Value, names{patterns: []string{m.Key}}))
	}
	return a.classes(all)
}

func (a atom) additionalProperties() choice {
	c := mentioned(a.site)
	c.others = true
	return choice{a.class(a.value, c)}
}

// mentioned are the properties that the keywords properties and patternProperties of a schema name.
func mentioned(s site) (c names) {
	if p := s.get("properties"); p != nil {
		for _, m := range p.Members {
			c.listed = append(c.listed, m.Key)
		}
	}
	if p := s.get("patternProperties"); p != nil {
		for _, m := range p.Members {
			c.patterns = append(c.patterns, m.Key)
		}
	}
	return c
}

func (a atom) propertyNames() choice {
	l := a.sub(a.value, a.holds)
	if !a.holds {
		return choice{has(classDemand{names: names{others: true}, name: []literal{l}})}
	}
	return note(func(f *facts) { f.object.names = append(slices.Clip(f.object.names), l) })
}

func (a atom) required() choice {
	all := option{}
	c := never
	for _, n := range a.value.Items {
		all = append(all, term{property: &classDemand{names: named(n.Text)}})
		c = append(c, lacks(n.Text))
	}
	if a.holds {
		return choice{all}
	}
	return c
}

// dependencies demands, where a property is there, other properties or a schema for the object. Each property is a choice of its own: so a map of several
// is divided into schemas with one property each.
func (a atom) dependencies() choice {
	if len(a.value.Members) != 1 {
		return a.oneByOne()
	}
	m := a.value.Members[0]
	present := option{{property: &classDemand{names: named(m.Key)}}}
	if m.Value.Kind != schema.Array {
		with := present.and(that(a.sub(m.Value, a.holds)))
		if a.holds {
			return choice{lacks(m.Key), with}
		}
		return choice{with}
	}
	required := atom{a.site, m.Value, a.kind, a.holds}.required()
	c := never
	if a.holds {
		c = choice{lacks(m.Key)}
	}
	for _, o := range required {
		c = append(c, present.and(o...))
	}
	return c
}

// oneByOne divides a map of dependencies into schemas that have one dependency each.
func (a atom) oneByOne() choice {
	var all []*schema.Node
	for _, m := range a.value.Members {
		keyword := "dependencies"
		if a.dialect() == schema.Draft2020 {
			keyword = "dependentSchemas"
			if m.Value.Kind == schema.Array {
				keyword = "dependentRequired"
			}
		}
		one := &schema.Node{Kind: schema.Object, Members: []schema.Member{m}}
		all = append(all, &schema.Node{Kind: schema.Object, Members: []schema.Member{{Key: keyword, Value: one}}})
	}
	if a.holds {
		return a.all(all, true)
	}
	return a.each(all, false)
}
