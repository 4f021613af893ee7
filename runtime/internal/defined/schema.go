package defined

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// schema is a schema of a definition: the keywords that the protocol's results have, and what values are read by.
type schema struct {
	Ref              string             `json:"$ref"`
	Type             types              `json:"type"`
	Const            *string            `json:"const"`
	Enum             []string           `json:"enum"`
	Properties       map[string]*schema `json:"properties"`
	Required         []string           `json:"required"`
	Others           *schema            `json:"additionalProperties"`
	Items            *schema            `json:"items"`
	MaxItems         int                `json:"maxItems"`
	AnyOf            []*schema          `json:"anyOf"`
	AllOf            []*schema          `json:"allOf"`
	Minimum, Maximum *float64
	Pattern, Format  string

	of      *schema // of Ref
	kinds   check.Union
	enum    check.Enum
	text    check.String
	number  check.Number
	array   check.Array
	object  check.Object
	members []*schema // as object.Names
	union   check.Union
}

// types is one name of a type, or several.
type types []string

func (t *types) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		*t = []string{""}
		return json.Unmarshal(b, &(*t)[0])
	}
	return json.Unmarshal(b, (*[]string)(t))
}

var kindOf = map[string]check.Kind{
	"object": check.KindObject, "array": check.KindArray, "string": check.KindString, "number": check.KindNumber, "integer": check.KindInteger,
	"boolean": check.KindBool, "null": check.KindNull,
}

const (
	anyKind = check.KindObject | check.KindArray | check.KindString | check.KindNumber | check.KindBool | check.KindNull
	at      = "#"
)

// prepare makes the rules of a schema and of all within it.
func (s *Set) prepare(of *schema) error {
	if of.Ref != "" {
		if of.of = s.schemas[of.Ref]; of.of == nil {
			return fmt.Errorf("there is no definition %s", of.Ref)
		}
	}
	of.scalar()
	of.array = check.Array{At: at, Max: of.MaxItems}
	of.object = check.Object{At: at, Names: slices.Sorted(maps.Keys(of.Properties)), Required: of.Required}
	within := slices.Concat(of.AnyOf, of.AllOf)
	for _, name := range of.object.Names {
		of.members = append(of.members, of.Properties[name])
	}
	for _, other := range append(within, of.members...) {
		if err := s.prepare(other); err != nil {
			return err
		}
	}
	for _, other := range []*schema{of.Others, of.Items} {
		if other != nil {
			if err := s.prepare(other); err != nil {
				return err
			}
		}
	}
	s.unite(of)
	return nil
}

// scalar makes the rules of strings and numbers.
func (of *schema) scalar() {
	of.kinds = check.Union{At: at, Keyword: "type", Kinds: anyKind}
	if of.Type != nil {
		of.kinds.Kinds = of.kindsOf()
	}
	of.text = check.String{At: at, Format: named(of.Format)}
	if of.Pattern != "" {
		of.text.Pattern = &format.Pattern{Source: of.Pattern}
	}
	of.number = check.Number{At: at, Integer: of.kinds.Kinds&check.KindNumber == check.KindInteger}
	if of.Minimum != nil {
		of.number.Has, of.number.Min = of.number.Has|check.Minimum, *of.Minimum
	}
	if of.Maximum != nil {
		of.number.Has, of.number.Max = of.number.Has|check.Maximum, *of.Maximum
	}
	of.enum = check.Enum{At: at, Values: of.Enum}
	if of.Const != nil {
		of.enum = check.Enum{At: at, Values: []string{*of.Const}, Const: true}
	}
}

// named is the format with a name: byte, too, which only the protocol has.
func named(name string) format.Format {
	if name == "byte" {
		return format.Byte
	}
	return format.Named(name)
}

// unite makes the rule of anyOf. Objects that are told apart by the text of a member all of them need are chosen by it.
func (s *Set) unite(of *schema) {
	if of.AnyOf == nil {
		return
	}
	of.union = check.Union{At: at, Keyword: "anyOf", Forms: make([]check.Form, len(of.AnyOf))}
	for i, branch := range of.AnyOf {
		b := s.resolved(branch)
		if b.Type != nil {
			of.union.Forms[i].Kinds = b.kindsOf()
		}
	}
	for _, key := range s.resolved(of.AnyOf[0]).Required {
		tags := s.tags(of.AnyOf, key)
		if tags == nil {
			continue
		}
		of.union.Key = key
		for i, tag := range tags {
			of.union.Forms[i].Tags = []string{tag}
		}
		return
	}
}

// tags are the texts of the member in each of the branches, nil if one of them does not say.
func (s *Set) tags(branches []*schema, key string) (all []string) {
	for _, branch := range branches {
		b := s.resolved(branch)
		p := b.Properties[key]
		if p == nil || p.Const == nil || !slices.Contains(b.Required, key) {
			return nil
		}
		all = append(all, *p.Const)
	}
	return all
}

// resolved is a schema behind its references.
func (s *Set) resolved(of *schema) *schema {
	for of.Ref != "" {
		of = s.schemas[of.Ref]
	}
	return of
}

func (of *schema) kindsOf() (kinds check.Kind) {
	for _, name := range of.Type {
		kinds |= kindOf[name]
	}
	return kinds
}
