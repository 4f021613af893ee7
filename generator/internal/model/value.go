package model

// Struct is an object with known properties, or a tuple: an array with known items.
type Struct struct {
	Array *ArrayRule // of a tuple, which has no Rule: its Props are the items by position, its AdditionalValue is for the items after them

	Props                []*Prop // sorted by Key, except those of a tuple; the decoder's table and the encoder have the same order
	Rule                 *ObjectRule
	AdditionalProperties AdditionalProperties
	AdditionalValue      Value  // the value of additional properties, for Keep
	Func                 *Decl  // has the functions that read and write one AdditionalValue; nil for check.Raw, and in validators
	Field                string // the Go field for additional properties, a map; of a tuple the one for further items, a slice
}

// AdditionalProperties says what happens to properties that a schema does not name.
type AdditionalProperties uint8

// Skip checks their syntax and drops them, Keep decodes them into a map and writes them back, Refuse refuses them.
const (
	Skip AdditionalProperties = iota
	Keep
	Refuse
)

// Prop is one known property of a Struct.
type Prop struct {
	Key      string // as in JSON
	Quoted   string // Key as a JSON string
	Tag      string // of the Go field, for encoding/json; empty if its tags can not hold the name
	Name     string // Go field; empty for constants, forbidden properties, and properties of an Object (type.go), which is validated and not stored
	Doc      []string
	Presence Presence
	Storage  Storage
	Value    Value
	Const    string  // the only value of a required property, as compact JSON: it is written whatever the field, if there is one, holds
	Default  Literal // what decoding sets where the property is absent

	DefaultText string // the default as JSON
}

// Presence says which states a property has besides a value.
type Presence uint8

// The states of a property. NullOptional keeps absent and null apart. A Defaulted property is always written, and never absent after
// decoding. An Optional one with a Default is never absent after decoding either, but can be left out when it is written.
const (
	Required Presence = iota
	Optional
	Nullable
	NullOptional
	Defaulted
	NullDefaulted
)

// Required reports whether decoding fails without the property.
func (p Presence) Required() bool { return p == Required || p == Nullable }

// Null reports whether null is allowed.
func (p Presence) Null() bool { return p == Nullable || p == NullOptional || p == NullDefaulted }

// Storage says how Go stores a value together with its presence.
type Storage uint8

// StoreBare is the type itself: for required values, and for types whose nil stands for absent (or null). StorePointer is for
// structs, StoreOptional (check.Optional) for scalars, StoreNullable (check.Nullable) for absent, null and value.
const (
	StoreBare Storage = iota
	StorePointer
	StoreOptional
	StoreNullable
	StoreNullablePointer // check.Nullable of a pointer to a struct
)

// Value is the type of the values at one place, such as a property or an item, with everything else that must hold there.
type Value struct {
	Type    Type
	Null    bool        // null is allowed; the Presence of a Prop says the same
	Storage Storage     // as an element of a slice or map; a Prop has its own
	Values  *ValuesRule // enum or const of mixed kinds
	Checks  []Assertion // validate the same bytes before the value is decoded
}

// Assertion is validated beside the type of a value: *Group, *Conjunct or *SolePattern.
type Assertion interface{ isAssertion() }

// Group is an anyOf or oneOf whose branches do not determine the Go type.
type Group struct {
	Var      string  // of its rule
	At       string  // where it is in the schema
	One      bool    // it is a oneOf
	Alone    bool    // the group's function reads the value and goes past it, since nothing else does; else it looks ahead
	Key      string  // the member whose value excludes branches: those that do not have it among the Tags of their Form
	KindKey  string  // the member whose kind excludes branches: those that do not have it among the KeyKinds of their Form
	Branches []*Decl // each with a *Check
	Forms    []Form  // of the branches
}

// Form describes the values that one branch of an anyOf or oneOf may match. For other values the branch is not tried.
type Form struct {
	Title    string
	Kinds    Kind
	Integer  bool     // numbers are integers
	Needs    []string // members that an object must have
	Tags     []Tag    // one of these must be the value of the member that Key names in the Group or Tried; nil: it may have any value
	KeyKinds Kind     // the kinds that the member that KindKey names there may have; 0: all
}

// Tag is a constant that distinguishes a form: a string, or a number, true, false or null as JSON in canonical form.
type Tag struct {
	Text string
	JSON bool
}

// Conjunct is a validator that must accept the value, too: for a part of an allOf that could not be merged, or a condition.
type Conjunct struct{ Decl *Decl }

// SolePattern is the only pattern of patternProperties beside additionalProperties: false. Its schema is the type of the value, so a member whose
// name it does not match is refused before anything else of the value is validated.
type SolePattern struct {
	Var     string // of its rule
	At      string // where the object is in the schema
	Pattern string
}

func (*Group) isAssertion()       {}
func (*Conjunct) isAssertion()    {}
func (*SolePattern) isAssertion() {}

// Enum is a string type with named values.
type Enum struct {
	At     string
	Const  bool // the schema says const
	Values []EnumValue
}

// EnumValue is one constant.
type EnumValue struct {
	Name string // StateOpen
	Text string // open
	Doc  []string
}

// Mixed is an enum of strings, numbers and booleans: a string type whose constants are JSON texts.
type Mixed struct {
	Rule   *ValuesRule
	Values []EnumValue
}

// Constants are the named values of d's type.
func (d *Decl) Constants() []EnumValue {
	switch b := d.Body.(type) {
	case *Enum:
		return b.Values
	case *Mixed:
		return b.Values
	}
	return nil
}

// Union is a sealed interface.
type Union struct {
	Method  string // isContentBlock
	Members []*UnionMember
	Rule    UnionRule
}

// UnionMember is one type of a Union: by pointer if it is a struct, else by value.
type UnionMember struct {
	Decl    *Decl
	Pointer bool
	Form    Form
}

// TypeName is the Go type that implements the interface.
func (m *UnionMember) TypeName() string {
	if m.Pointer {
		return "*" + m.Decl.Name
	}
	return m.Decl.Name
}

// UnionRule says how a decoder finds the member that a value is: *ByTag, *ByJSONKind or *Tried. Keyword is anyOf, oneOf or type.
type UnionRule interface{ isUnionRule() }

// ByTag looks at one required property, whose values belong to one member each.
type ByTag struct{ At, Key, Keyword string }

// ByJSONKind looks at the JSON kind, which belongs to one member each.
type ByJSONKind struct{ At, Keyword string }

// Tried decodes the value as one member after the other and takes the first that is valid, or with One the only one that is. Members whose
// Form excludes the value are skipped.
type Tried struct {
	At      string
	Key     string // the property whose value excludes members: those that do not have it among the Tags of their Form
	KindKey string // the property whose kind excludes members: those that do not have it among the KeyKinds of their Form
	One     bool   // it is a oneOf
}

func (*ByTag) isUnionRule()      {}
func (*ByJSONKind) isUnionRule() {}
func (*Tried) isUnionRule()      {}

// Literal is the Go value of a default: Basic, Parsed, RawText, NullLiteral, *Composite, *Stored or *Convert.
type Literal interface{ isLiteral() }

// Basic is Go source of a constant: 30, "open", true, or the name of one.
type Basic string

// Parsed is a value of a Formatted type, which generated code parses from its text.
type Parsed struct {
	Of   Formatted
	Text string
}

// RawText is JSON, stored as check.Raw.
type RawText string

// NullLiteral is null: nil, a check.Optional that is not set, or a check.Nullable that is null.
type NullLiteral struct {
	Of      Value
	Storage Storage
}

// Composite is a literal of a struct, slice or map type.
type Composite struct {
	Of      Value
	Entries []Entry
}

// Entry is one element of a Composite: with Field of a struct, with Keyed of a map, with neither of a slice.
type Entry struct {
	Field string
	Key   string
	Keyed bool
	Value Literal
}

// Stored is a value of type Of that is stored as a pointer, a check.Optional or a check.Nullable.
type Stored struct {
	Of      Value
	Storage Storage
	Value   Literal
}

// Convert is a value converted to a declared type.
type Convert struct {
	To    *Decl
	Value Literal
}

func (Basic) isLiteral()       {}
func (Parsed) isLiteral()      {}
func (RawText) isLiteral()     {}
func (NullLiteral) isLiteral() {}
func (*Composite) isLiteral()  {}
func (*Stored) isLiteral()     {}
func (*Convert) isLiteral()    {}
