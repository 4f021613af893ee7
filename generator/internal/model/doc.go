// Package model is the intermediate representation between schemas and Go source: data only, complete after lowering,
// with every name and order decided. It is for those who add something to generated code: a field here, its decision in ../typing,
// ../wire or ../lower, its text in ../emit. Begin with package.go: a Package holds everything else.
//
// type.go, value.go, rule.go and condition.go describe types: a Decl is one Go declaration, its Body and the Values in it say how
// JSON is read, checked, stored and written; children.go visits them. tool.go, method.go and registry.go have what handlers serve, wire.go and
// dialect.go a revision. Alternatives are a sealed interface each (Body, Type, UnionRule, Assertion,
// Literal) rather than one struct with a field for every case, so that a field that belongs to another case can not be
// read by mistake. Presence and Storage are explicit: no emitter concludes from a pointer that something is optional.
//
// # Words of this package
//
//	kind        of a JSON value: null, boolean, number, string, array or object. JSON Schema calls it the type; here a type is a Go type
//	validator   a function that checks a value and stores nothing
//	rule table  a variable of generated code that says what the runtime checks of one value (rule.go)
//	entry       a prompt, a resource or a resource template: an element of a registry
//	wire        the functions and tables of one protocol revision. Of types there and in dialect.go, wire.X is the type X of package runtime/wire
package model
