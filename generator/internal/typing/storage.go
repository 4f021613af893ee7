package typing

import "github.com/mcpkiln/mcpkiln/generator/internal/model"

// class is how a Go type can express "no value".
type class uint8

const (
	scalar  class = iota // no nil: string, int64, float64, bool, enums
	nilable              // nil is no value: slices, maps, check.Raw, interfaces
	record               // structs: a pointer to one
)

func classOf(v *model.Value) class {
	switch t := v.Type.(type) {
	case *model.Slice, *model.Map, model.Raw:
		return nilable
	case model.Named:
		switch b := t.Decl.Body.(type) {
		case *model.Enum, *model.Mixed:
			return scalar
		case *model.Union:
			return nilable
		case *model.Defined:
			return classOfDefined(&b.Value)
		}
		return record
	}
	return scalar
}

// classOfDefined is classOf for type A B. If A is nullable and B has no nil, A is defined over a pointer or a check.Optional, which is a struct.
func classOfDefined(v *model.Value) class {
	if c := classOf(v); !v.Null || c == nilable {
		return c
	}
	return record
}

// nilIsNull reports whether nil of the type means null, so that it can not mean absent.
func nilIsNull(v *model.Value) bool {
	named, ok := v.Type.(model.Named)
	if !ok {
		return false
	}
	b, ok := named.Decl.Body.(*model.Defined)
	return ok && (b.Value.Null || nilIsNull(&b.Value))
}

// setStorage decides how every value of d is stored, and which members of a union are pointers. That needs the bodies of all declarations.
func setStorage(d *model.Decl) {
	d.Walk(func(v *model.Value, of *model.Prop) {
		if of != nil {
			of.Storage = storage(v, of.Presence)
		} else {
			v.Storage = elementStorage(v)
		}
	})
	if u, ok := d.Body.(*model.Union); ok {
		for _, m := range u.Members {
			m.Pointer = classOf(&model.Value{Type: model.Named{Decl: m.Decl}}) == record
		}
	}
}

// storage decides how a property is stored. A type with a nil uses it for absent, structs become pointers, scalars and types whose nil
// means null become check.Optional. Pointers to scalars were rejected: an allocation each, and a nil dereference wherever a test is missing.
func storage(v *model.Value, p model.Presence) model.Storage {
	c := classOf(v)
	switch p {
	case model.Required, model.Defaulted:
		return model.StoreBare
	case model.NullOptional, model.NullDefaulted:
		if c == record {
			return model.StoreNullablePointer
		}
		return model.StoreNullable
	default:
		if c == nilable && nilIsNull(v) {
			return model.StoreOptional
		}
		return [...]model.Storage{scalar: model.StoreOptional, nilable: model.StoreBare, record: model.StorePointer}[c]
	}
}

// elementStorage is storage for an element of a slice or map: null is the only state besides a value.
func elementStorage(v *model.Value) model.Storage {
	if !v.Null {
		return model.StoreBare
	}
	return [...]model.Storage{scalar: model.StoreOptional, nilable: model.StoreBare, record: model.StorePointer}[classOf(v)]
}
