package check

import (
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// Rules are static tables that generated code fills in; their only state is what is derived from them on first use, so one
// table may serve any number of decoders and any number of places in a schema. The zero Object, Array, String, Int and Number allow everything of their
// type. Where nil is allowed, it means that there is no rule.
//
// At is the place of the subschema as a URI fragment ("#/$defs/Line"). Leave it empty where the subschema is
// directly under its parent's properties, items or additionalProperties: then it is derived when there is a violation.

// Zero stands for a bound of 0 in the fields where 0 means "no bound".
const Zero = -1

// AdditionalProperties says how properties that Names does not list are treated.
type AdditionalProperties uint8

const (
	Keep              AdditionalProperties = iota // Next returns Other; the caller takes the value
	Skip                                          // scanned and dropped
	Refuse                                        // a violation of additionalProperties
	RefuseUnevaluated                             // a violation of unevaluatedProperties
)

// Object is the rule of an object whose properties are known by name.
type Object struct {
	At                   string
	Names                []string // in any order; Next returns an index into it
	Required             []string // some of Names
	Nullable             []string // those of Names that accept null: Next takes it, and the Go field stays as it was
	AdditionalProperties AdditionalProperties
	Min, Max             int // minProperties, maxProperties; 0 is none, Zero is 0

	table atomic.Pointer[nameTable] // made from Names on first use
}

// Array is the rule of an array.
type Array struct {
	At       string
	Min, Max int // minItems, maxItems; 0 is none, Zero is 0
	Unique   bool
}

// String is the rule of a string. Lengths count code points.
type String struct {
	At       string
	Min, Max int // minLength, maxLength; 0 is none, Zero is 0
	Pattern  *format.Pattern
	Format   format.Format
}

// Enum is the rule of a string that is one of a few.
type Enum struct {
	At     string
	Values []string
	Const  bool // the schema says const

	index index[string]
	words atomic.Pointer[string] // for what is allowed, made with the first violation
}

// Has says which bounds of an Int or Number apply.
type Has uint8

const (
	Minimum Has = 1 << iota
	Maximum
	ExclusiveMinimum
	ExclusiveMaximum
)

// Int is the rule of an integer that is decoded to an int64.
type Int struct {
	At         string
	Has        Has
	Min, Max   int64 // as in the schema: exclusive where Has says so
	MultipleOf int64
	Enum       []int64
	Const      bool // Enum comes from const

	index index[int64]
}

// Number is the rule of a number that is decoded to a float64. Every comparison is exact: of the decimal that was written,
// not of its rounded float64.
type Number struct {
	At               string
	Has              Has
	Min, Max         float64
	MinText, MaxText string   // the bound's literal, used instead of Min and Max when float64 does not round-trip it (over 15 digits, huge)
	MultipleOf       string   // literal, "0.01"
	Integer          bool     // 1.0 is one
	Enum             []string // literals
	Const            bool     // Enum comes from const

	index index[string] // by canonical literals
}

// Values is the rule of a value that equals one of a few JSON values (const, or enum of mixed kinds). Equality is JSON
// Schema's: 1 is 1.0, member order does not count.
type Values struct {
	At    string
	JSON  []string
	Const bool

	canonical canonicalSet
}

// Not is the rule of the keyword not: what its schema forbids, in words.
type Not struct {
	At      string
	Key     string // the member that alone decides, if there is one: the violation names it, not its object
	Lacks   bool   // the object must not have Key, whatever its value
	Allowed string // empty if the schema is too complex for a sentence
}

// Because says in words what an if found; it is empty if that is too complex for a sentence.
type Because struct {
	Then string // "mode" is "fast"
	Else string // "mode" is not "fast"
}

// Union says how the forms of an anyOf or oneOf are told apart. A first look at a value excludes forms: by its kind, by the
// string in one member, and by the members that it has; or by the kind of one member. The forms that are left are tried.
type Union struct {
	At      string
	Keyword string // "oneOf", "anyOf", "type", "false"
	One     bool   // exactly one form may fit; false: the first that fits is taken
	Kinds   Kind   // the kinds that are allowed, for Decoder.Kind
	Key     string // the member whose value, the tag, excludes forms
	Members Object // the members that some forms need; others are skipped
	KindKey string // without Key and Members: the member whose kind excludes forms: one whose KeyKinds lack it can not fit
	Forms   []Form

	once     Once
	tags     atomic.Pointer[tagTable]
	kinds    atomic.Pointer[kindTable]
	keyKinds atomic.Pointer[keyKindTable]
	members  atomic.Pointer[memberTable]
}

// Form says what a first look at a value must find for a form of a Union. The zero Form excludes nothing.
type Form struct {
	Title    string   // of the schema; only where exactly one form may fit
	Kinds    Kind     // the kinds that it takes; 0 is all
	Needs    uint64   // the members that an object must have: a bit for each of the first 64 of Members.Names
	More     []int    // the indexes of the others that it must have
	Tags     []string // the strings that its member Key may have
	JSON     []string // the numbers, true, false and null that Key may have, in canonical form. Tags and JSON nil: any value, or no Key
	KeyKinds Kind     // the kinds that its member KindKey may have; 0 is all
}

// Once identifies, by its address, a schema whose outcome for a value is remembered, because several other schemas need it.
type Once struct{ _ byte }

// Kind is a kind of JSON value, or a set of them (a bit each).
type Kind uint8

const (
	KindNull Kind = 1 << iota
	KindBool
	KindInteger // only in rules: a number that must be an integer. Forms are chosen as for any number; violations say integer
	KindString
	KindArray
	KindObject
	fraction // of a rule's number: it need not be an integer

	KindNumber = KindInteger | fraction
)

// Other is what Object and Next return for a property that Names does not list (only with Keep).
const Other = 1 << 30
