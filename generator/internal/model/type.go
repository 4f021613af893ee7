package model

// TypeRef has the names of the Go type and the functions that a schema became.
type TypeRef struct {
	Name   string // Go type
	Decode string // name of func(d *check.Decoder, v *Name)
	Append string // name of func(b []byte, v *Name) []byte
	Decl   *Decl
}

// Use is the set of functions of a declaration that are used, and so generated.
type Use uint8

// Decode is for messages that arrive, and to check outputs (VAL01); Encode for messages that are sent. Table is for
// enums: the decoders of other declarations read an enum by its rule table, without a function of the enum.
const (
	Decode Use = 1 << iota
	Encode
	Table
)

// Decl is the result of lowering one schema: a Go type with its functions, or (with an empty Name) functions only.
type Decl struct {
	Name   string   // GetQuoteInput
	Stem   string   // getQuoteInput: its rule table, and what the names of its other tables begin with
	Doc    []string // lines of a schema or manifest, which may contain anything: only the comment writer of emit may print them
	Decode string   // decodeGetQuoteInput
	Append string   // appendGetQuoteInput
	Use    Use
	Body   Body
	Once   string      // of a validator whose outcome for each value is cached: the name of the variable for that
	Checks []Assertion // validate the same bytes before the body reads them

	// Same is the declaration that this one is an alias of; an alias has no functions and tables of its own. nil: this one is no alias.
	Same *Decl

	// Marshal and Unmarshal report whether the type has a MarshalJSON or UnmarshalJSON, which calls Append or Decode.
	Marshal, Unmarshal bool
	// Hidden are the properties whose values the errors of UnmarshalJSON do not show, as the names that check.Hiding takes.
	Hidden string

	// LentDecode and LentAppend are the exported names of the functions of a shared declaration that other packages call.
	LentDecode, LentAppend string
}

// Origin is the declaration that has the type and the functions of d.
func (d *Decl) Origin() *Decl {
	if d.Same != nil {
		return d.Same
	}
	return d
}

// Renamed reports whether d is an alias with a name of its own.
func (d *Decl) Renamed() bool { return d.Same != nil && d.Name != d.Same.Name }

// Body is what a Decl declares: *Struct, *Enum, *Mixed, *Union or *Defined; *Element, *Check or a Condition if it has no Go type.
type Body interface{ isBody() }

// Defined is a named type over another one: type BatchID string.
type Defined struct{ Value Value }

// Element is the value of a slice or map, or of an interface, whose type needs no name: []int64 in [][]int64.
type Element struct{ Value Value }

// Check validates one value and stores nothing.
type Check struct{ Value Value }

func (*Struct) isBody()  {}
func (*Enum) isBody()    {}
func (*Mixed) isBody()   {}
func (*Union) isBody()   {}
func (*Defined) isBody() {}
func (*Element) isBody() {}
func (*Check) isBody()   {}

// Type is the Go type of a schema's values and how they are read: String, Formatted, Int, Number, Decimal, Bool, Raw, *Slice, *Map,
// Named; *Choice, *Never, *ByKind, *ByIndex and *Object are for validators alone.
type Type interface{ isType() }

// String is a Go string.
type String struct{ Rule *StringRule }

// Formatted is a string with a Go type of its own: time.Time, time.Duration, check.Date, check.UUID, or []byte, which has no Package.
// The runtime's functions for it are called by its Name.
type Formatted struct {
	Package, Name string
	Rule          *StringRule // never nil
}

// Int is an int64.
type Int struct{ Rule *NumberRule }

// Decimal is a number stored as it was written (check.Literal), because an int64 or float64 might not represent it exactly.
type Decimal struct{ Rule *NumberRule }

// Number is a float64.
type Number struct{ Rule *NumberRule }

// Bool is a bool.
type Bool struct{}

// Raw is any JSON value, as check.Raw.
type Raw struct{}

// Slice is a Go slice. Func has the functions that read and write one element; nil if the runtime reads all elements in one call, and in
// validators.
type Slice struct {
	Elem Value
	Func *Decl
	Rule *ArrayRule
}

// Map is a Go map from strings. Func has the functions that read and write one value; nil in validators.
type Map struct {
	Elem Value
	Func *Decl
	Rule *ObjectRule
}

// Named is the type of another declaration.
type Named struct{ Decl *Decl }

// Choice is one of the strings in Values. Var and At of this type and of those below are as in rule.go.
type Choice struct {
	Var    string
	At     string
	Values []string
	Const  bool // the schema says const, not enum
}

// Never is the schema false: each value is a violation.
type Never struct{ Var, At string }

// ByKind reads a value by its JSON kind. Kinds without a case are skipped, or refused if they are not in Allowed.
type ByKind struct {
	Var     string // only if not every kind is allowed
	At      string
	Allowed Kind
	Integer bool // numbers are integers
	Cases   []KindCase
}

// KindCase says what values of one kind must be.
type KindCase struct {
	Kind  Kind
	Value Value
}

// ByIndex reads an item by its position: one of Cases, else Items.
type ByIndex struct {
	Cases []Value
	Items Value
}

// Object is an object that is validated and not stored.
type Object struct{ Struct *Struct }

func (String) isType()    {}
func (Formatted) isType() {}
func (Int) isType()       {}
func (Number) isType()    {}
func (Decimal) isType()   {}
func (Bool) isType()      {}
func (Raw) isType()       {}
func (*Slice) isType()    {}
func (*Map) isType()      {}
func (Named) isType()     {}
func (*Choice) isType()   {}
func (*Never) isType()    {}
func (*ByKind) isType()   {}
func (*ByIndex) isType()  {}
func (*Object) isType()   {}

// Kind is a set of JSON kinds.
type Kind uint8

// The kinds of JSON values.
const (
	KindNull Kind = 1 << iota
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject

	KindAny = KindNull | KindBool | KindNumber | KindString | KindArray | KindObject
)
