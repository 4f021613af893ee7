package revision

import "github.com/mcpkiln/mcpkiln/schema"

// Types is a set of JSON types.
type Types uint8

// The JSON types; an integer is a number too, so a schema of type number has both.
const (
	TypeNull Types = 1 << iota
	TypeBool
	TypeInteger
	TypeNumber
	TypeString
	TypeArray
	TypeObject

	AnyType = TypeNull | TypeBool | TypeInteger | TypeNumber | TypeString | TypeArray | TypeObject
)

// Types are the JSON types that any of the schemas at p allows; all if there is no schema.
func (p Place) Types() Types {
	if len(p.Schemas) == 0 {
		return AnyType
	}
	var t Types
	for _, s := range p.Schemas {
		t |= typesOf(s, 0)
	}
	return t
}

func typesOf(s Schema, hops int) Types {
	if s.Node == nil || hops > maxHops {
		return AnyType
	}
	t := declared(s.Get("type"))
	for _, all := range conjuncts(s) {
		t &= typesOf(all, hops+1)
	}
	for _, alternatives := range unions(s) {
		var any Types
		for _, a := range alternatives {
			any |= typesOf(a, hops+1)
		}
		t &= any
	}
	return t
}

func declared(n *schema.Node) Types {
	if n == nil {
		return AnyType
	}
	if n.Kind == schema.String {
		return typeNamed(n.Text)
	}
	var t Types
	for _, item := range n.Items {
		t |= typeNamed(item.Text)
	}
	return t
}

func typeNamed(name string) Types {
	switch name {
	case "null":
		return TypeNull
	case "boolean":
		return TypeBool
	case "integer":
		return TypeInteger
	case "number":
		return TypeInteger | TypeNumber
	case "string":
		return TypeString
	case "array":
		return TypeArray
	case "object":
		return TypeObject
	}
	return 0
}
