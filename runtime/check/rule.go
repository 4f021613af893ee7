package check

import (
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// Rules are static tables that generated code fills in; they hold no state but what is made of them on first use, so that one
// table may serve any number of decoders and any number of places in a schema. The zero value of each allows everything of its type, and a nil rule
// is the same as a zero one.
//
// At is the place of the subschema as a URI fragment ("#/$defs/Line"). Leave it empty where the subschema stands
// directly under its parent's properties, items or additionalProperties: then it is derived, only when there is a violation.

// Zero stands for a bound of 0 in the fields where 0 means "no bound".
const Zero = -1

// AdditionalProperties says what becomes of properties that Names does not list.
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
	Names                []string // index = what Next returns, in any order
	Required             []string // some of Names
	Nullable             []string // those of Names that accept null: it is consumed and leaves the Go field as it was
	AdditionalProperties AdditionalProperties
	Min, Max             int // minProperties, maxProperties; 0 is none, Zero is 0

	table atomic.Pointer[nameTable] // made of Names on first use
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
}

// Has says which bounds of an Int or Number apply.
type Has uint8

const (
	Minimum Has = 1 << iota
	Maximum
	ExclusiveMinimum
	ExclusiveMaximum
)

// Int is the rule of an integer held in an int64.
type Int struct {
	At         string
	Has        Has
	Min, Max   int64 // as the schema writes them: exclusive where Has says so
	MultipleOf int64
	Enum       []int64
	Const      bool // Enum comes from const

	index index[int64]
}

// Number is the rule of a number held in a float64. Every comparison is exact: on the decimal that was written, not on
// its rounded float64.
type Number struct {
	At               string
	Has              Has
	Min, Max         float64
	MinText, MaxText string   // the bound's literal, instead of Min and Max, when float64 does not round-trip it (over 15 digits, huge)
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

// Not is the rule of not: what its schema forbids, in words.
type Not struct {
	At      string
	Key     string // the member that alone decides, if there is one: it is named, not its object
	Lacks   bool   // Key must not be there, whatever its value
	Allowed string // empty if the schema is too complex for a sentence
}

// Because says in words what an if found. Empty is too complex for a sentence.
type Because struct {
	Then string // "mode" is "fast"
	Else string // "mode" is not "fast"
}

// Union says how the forms of an anyOf or oneOf are told apart. What a value shows before it is read excludes forms: its kind, the
// text of one member, and which members it has. What is left is tried.
type Union struct {
	At      string
	Keyword string // "oneOf", "anyOf", "type", "false"
	One     bool   // exactly one form may fit; else the first that does is taken
	Kinds   Kind   // Kind: the kinds that are allowed
	Key     string // the member whose text excludes forms
	Members Object // the members that some forms need; others are skipped
	Forms   []Form

	once  Once
	tags  atomic.Pointer[tagTable]
	kinds atomic.Pointer[kindTable]
}

// Form is what a value must show for a form of a Union. The zero Form excludes nothing.
type Form struct {
	Title string   // what the schema calls it, where several may fit and one may
	Kinds Kind     // the kinds that it takes; 0 is all
	Needs uint64   // the members that an object must have: a bit for each of the first 64 of Members.Names,
	More  []int    // and the indexes of others
	Tags  []string // the texts of Key, which an object must have; nil is any, or none
}

// Once stands for a schema whose outcome for a value is remembered, because several others need it. Its address is what
// counts.
type Once struct{ _ byte }

// Kind is a JSON kind, and or-ed a set of them.
type Kind uint8

const (
	KindNull Kind = 1 << iota
	KindBool
	KindInteger // of a rule only: a number that must be an integer. It counts as a number, and violations say which
	KindString
	KindArray
	KindObject
	fraction

	KindNumber = KindInteger | fraction
)

// Other is what Object and Next return for a property that Names does not list (only with Keep).
const Other = 1 << 30
