package jsonschema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// circles finds references that lead back to themselves without a step into the value, as the generator does in a manifest: the library
// says so of each value that it validates, which every call would be refused for.
type circles struct {
	open, closed map[*jsonschema.Schema]bool // schemas that are applied to the value that is looked at, and those that are done
	queue        []*jsonschema.Schema        // that are applied to other values
}

func checkCircles(root *jsonschema.Schema) error {
	c := circles{map[*jsonschema.Schema]bool{}, map[*jsonschema.Schema]bool{}, []*jsonschema.Schema{root}}
	for i := 0; i < len(c.queue); i++ { // it grows
		if err := c.follow(c.queue[i]); err != nil {
			return err
		}
	}
	return nil
}

// follow goes to all that is applied to the same value as s.
func (c *circles) follow(s *jsonschema.Schema) error {
	switch {
	case s == nil || c.closed[s]:
		return nil
	case c.open[s]:
		_, at, _ := strings.Cut(s.Location, "#")
		return fmt.Errorf("a reference to #%s leads in a circle without looking into the value: remove it, or let it stand below properties or items", at)
	}
	c.open[s] = true
	for _, next := range inPlace(s) {
		if err := c.follow(next); err != nil {
			return err
		}
	}
	delete(c.open, s)
	c.closed[s] = true
	c.queue = append(c.queue, within(s)...)
	return nil
}

// inPlace are the schemas that are applied to the same value as s.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	all := slices.Concat([]*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf)
	if s.DynamicRef != nil {
		all = append(all, s.DynamicRef.Ref)
	}
	for _, d := range s.Dependencies {
		all = append(all, schemas(d)...)
	}
	return slices.AppendSeq(all, maps.Values(s.DependentSchemas))
}

// within are the schemas of what is in the value that s is applied to.
func within(s *jsonschema.Schema) []*jsonschema.Schema {
	all := slices.Concat([]*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema},
		s.PrefixItems, schemas(s.AdditionalProperties), schemas(s.Items), schemas(s.AdditionalItems))
	all = slices.AppendSeq(all, maps.Values(s.Properties))
	return slices.AppendSeq(all, maps.Values(s.PatternProperties))
}

// schemas are those in a keyword that may have something else.
func schemas(keyword any) []*jsonschema.Schema {
	switch v := keyword.(type) {
	case *jsonschema.Schema:
		return []*jsonschema.Schema{v}
	case []*jsonschema.Schema:
		return v
	}
	return nil
}
