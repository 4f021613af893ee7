package jsonschema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// circles finds references that lead back to themselves without a step into the value, as the generator does in a manifest: the library
// reports them with each value that it validates, so that every call would be refused.
type circles struct {
	root         *jsonschema.Schema
	anchored     map[string]int              // how many schemas have an anchor of the name
	open, closed map[*jsonschema.Schema]bool // schemas on the way of references to the current one, and those that are done
	queue        []*jsonschema.Schema        // schemas that are applied to other values
}

func checkCircles(root *jsonschema.Schema) error {
	c := circles{root, anchored(root), map[*jsonschema.Schema]bool{}, map[*jsonschema.Schema]bool{}, []*jsonschema.Schema{root}}
	for i := 0; i < len(c.queue); i++ { // it grows
		if err := c.follow(c.queue[i]); err != nil {
			return err
		}
	}
	return nil
}

// follow visits all schemas that are applied to the same value as s.
func (c *circles) follow(s *jsonschema.Schema) error {
	switch {
	case s == nil || c.closed[s]:
		return nil
	case c.open[s]:
		_, at, _ := strings.Cut(s.Location, "#")
		return fmt.Errorf("a reference to #%s leads in a circle without looking into the value: remove it, or let it stand below properties or items", at)
	}
	c.open[s] = true
	dynamic, certain := c.dynamic(s)
	if !certain {
		c.queue, dynamic = append(c.queue, dynamic), nil
	}
	for _, next := range append(inPlace(s), dynamic) {
		if err := c.follow(next); err != nil {
			return err
		}
	}
	delete(c.open, s)
	c.closed[s] = true
	c.queue = append(c.queue, within(s)...)
	return nil
}

// dynamic returns the schema that the dynamicRef of s refers to, nil if it has none. Of several candidates, that counts whose resource was entered
// first, which the root always was. Between others each value decides, so they are not certain, and a circle through the nearest may be none.
func (c *circles) dynamic(s *jsonschema.Schema) (meant *jsonschema.Schema, certain bool) {
	nearest, anchor := dynamicRef(s)
	if anchor != "" && anchor == anchorOf(c.root) {
		return c.root, true
	}
	return nearest, c.anchored[anchor] <= 1
}

// dynamicRef returns the schema that $dynamicRef or $recursiveRef names, and the anchor by which it may refer to another one; "" for none.
func dynamicRef(s *jsonschema.Schema) (nearest *jsonschema.Schema, anchor string) {
	switch {
	case s.RecursiveRef != nil:
		return s.RecursiveRef, anchorOf(s.RecursiveRef)
	case s.DynamicRef != nil:
		return s.DynamicRef.Ref, s.DynamicRef.Anchor
	}
	return nil, ""
}

// anchorOf returns the name of a $dynamicAnchor, or # for a $recursiveAnchor.
func anchorOf(s *jsonschema.Schema) string {
	if s.RecursiveAnchor {
		return "#"
	}
	return s.DynamicAnchor
}

// anchored counts the schemas with an anchor of each name.
func anchored(root *jsonschema.Schema) map[string]int {
	names, seen := map[string]int{}, map[*jsonschema.Schema]bool{nil: true}
	for queue := []*jsonschema.Schema{root}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		if seen[s] {
			continue
		}
		seen[s] = true
		if anchor := anchorOf(s); anchor != "" {
			names[anchor]++
		}
		nearest, _ := dynamicRef(s)
		queue = append(append(append(queue, inPlace(s)...), within(s)...), nearest)
	}
	return names
}

// inPlace returns the schemas that are applied to the same value as s, except its dynamicRef.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	all := slices.Concat([]*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf)
	for _, d := range s.Dependencies {
		all = append(all, schemas(d)...)
	}
	return slices.AppendSeq(all, maps.Values(s.DependentSchemas))
}

// within returns the schemas that are applied to the members, names and items of the value that s is applied to.
func within(s *jsonschema.Schema) []*jsonschema.Schema {
	all := slices.Concat([]*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema},
		s.PrefixItems, schemas(s.AdditionalProperties), schemas(s.Items), schemas(s.AdditionalItems))
	all = slices.AppendSeq(all, maps.Values(s.Properties))
	return slices.AppendSeq(all, maps.Values(s.PatternProperties))
}

// schemas returns those in a keyword whose value need not be a schema.
func schemas(keyword any) []*jsonschema.Schema {
	switch v := keyword.(type) {
	case *jsonschema.Schema:
		return []*jsonschema.Schema{v}
	case []*jsonschema.Schema:
		return v
	}
	return nil
}
