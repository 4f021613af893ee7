package model

// The types in this file mirror the rules of runtime/check. Var is the name of the Go variable. At is the place of the subschema as a
// URI fragment; empty where the runtime derives it from the parent's.

// StringRule bounds a string. Lengths count code points; nil is no bound.
type StringRule struct {
	Var      string
	At       string
	Min, Max *int
	Pattern  string
	Format   string // name as in JSON Schema
}

// NumberRule bounds an Int or a Number. The texts are literals as the schema has them; empty is no bound.
type NumberRule struct {
	Var                        string
	At                         string
	Min, Max                   string
	RoundedMin, RoundedMax     bool // float64 can not represent the bound exactly
	ExclusiveMin, ExclusiveMax bool
	MultipleOf                 string
	Integer                    bool // of a Decimal: only integers are allowed
	Enum                       []string
	Const                      bool
}

// ArrayRule bounds an array.
type ArrayRule struct {
	Var      string
	At       string
	Min, Max *int
	Unique   bool
}

// ObjectRule bounds an object's size; its properties, and which are required, are in Struct.
type ObjectRule struct {
	Var         string
	At          string
	Min, Max    *int
	Unevaluated bool // unevaluatedProperties refuses other properties, not additionalProperties
}

// ValuesRule allows a few JSON values of any kind, as compact text.
type ValuesRule struct {
	Var   string
	At    string
	JSON  []string
	Const bool
}
