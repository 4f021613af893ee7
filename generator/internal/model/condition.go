package model

// A Condition is the body of a validator that reads a value without consuming it, for a keyword that no Go type can express.
// The Decl's Stem is the name of its rule table, if it has one. At is the place of the schema, as in rule.go.
type Condition interface {
	Body
	Calls() []*Decl // the functions that it calls
}

// Not is a schema that must not hold.
type Not struct {
	At      string
	Branch  *Decl
	Key     string // the only member that Branch is about; may be empty
	Lacks   bool   // Branch only requires Key, so the not demands that Key is missing
	Allowed string // the values that the not allows, in words, for violations; may be empty
}

// If is if with then and else, either of which may be nil.
type If struct {
	If, Then, Else  *Decl
	Because, Unless string // when Then applies, and when Else does, in words, for violations; may be empty
}

// Dependents is dependentRequired.
type Dependents struct {
	At, Keyword string
	Keys        []string
	Names       [][]string // for each of Keys, the members that an object with it must have
}

// When is dependentSchemas: a schema for each of Keys, for objects that have it.
type When struct {
	Keys    []string
	Schemas []*Decl
}

// NameOf checks the name of the member that the decoder is at.
type NameOf struct{ Schema *Decl }

// Matched checks the value of the member that the decoder is at with the schemas of all patterns that its name matches, or with
// AdditionalProperties if it matches none. A nil schema allows everything.
type Matched struct {
	At                   string
	Patterns             []string
	Schemas              []*Decl
	AdditionalProperties *Decl
	Refuse               bool // names that match no pattern are not allowed
}

// Contains counts the items that satisfy a schema.
type Contains struct {
	At   string
	Min  int
	Max  *int
	Item *Decl
}

// Unevaluated is unevaluatedProperties or, with Items, unevaluatedItems.
type Unevaluated struct {
	At        string
	Items     bool
	Evaluated *Decl // its Body is an Evaluated; nil if nothing is evaluated
	Schema    *Decl // for what is not evaluated; nil: it is refused
}

// Evaluated records which properties or items the schemas at one place mention.
type Evaluated struct {
	All      bool     // every property or item
	First    int      // so many items from the beginning, by prefixItems
	Names    []string // properties
	Patterns []string // of patternProperties
	Found    []*Decl  // of contains: the items that one of these allows
	Steps    []Step
}

// Step is Evaluated for schemas that apply only under a condition: that the value satisfies If, or has the member Key.
type Step struct {
	If         *Decl
	Key        string
	Then, Else *Decl // their Body is an Evaluated; either may be nil
}

func (*Not) isBody()         {}
func (*If) isBody()          {}
func (*Dependents) isBody()  {}
func (*When) isBody()        {}
func (*NameOf) isBody()      {}
func (*Matched) isBody()     {}
func (*Contains) isBody()    {}
func (*Unevaluated) isBody() {}
func (*Evaluated) isBody()   {}

// Calls implements Condition.
func (c *Not) Calls() []*Decl { return []*Decl{c.Branch} }

// Calls implements Condition.
func (c *If) Calls() []*Decl { return []*Decl{c.If, c.Then, c.Else} }

// Calls implements Condition.
func (c *Dependents) Calls() []*Decl { return nil }

// Calls implements Condition.
func (c *When) Calls() []*Decl { return c.Schemas }

// Calls implements Condition.
func (c *NameOf) Calls() []*Decl { return []*Decl{c.Schema} }

// Calls implements Condition.
func (c *Matched) Calls() []*Decl { return append([]*Decl{c.AdditionalProperties}, c.Schemas...) }

// Calls implements Condition.
func (c *Contains) Calls() []*Decl { return []*Decl{c.Item} }

// Calls implements Condition.
func (c *Unevaluated) Calls() []*Decl { return []*Decl{c.Evaluated, c.Schema} }

// Calls implements Condition.
func (c *Evaluated) Calls() []*Decl {
	all := c.Found
	for _, s := range c.Steps {
		all = append(all[:len(all):len(all)], s.If, s.Then, s.Else)
	}
	return all
}
