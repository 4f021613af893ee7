// Package lower turns a manifest and protocol revisions into a model.Package. Every decision of the generator is made
// here: what things are called and in which order they come, which Go type a schema is, which policies hold, and what a
// package does not need.
//
//	package.go tool.go policy.go question.go answer.go result.go   the package and its tools
//	method.go                                                      other methods: handlers, calls to the client, switches
//	protocol.go protocolmerge.go view.go                           what revisions define, as one; encoders where they differ
//	wire.go wiremessage.go wireword.go wireshare.go                a revision's rules, joined with the runtime's tables:
//	wiretable.go wireslots.go                                      operations, capabilities, messages and their fields
//	name.go                                                        Go names, each handed out once
//	keyword.go read.go shape.go merge.go                           schemas: keywords read and merged into shapes
//	typing.go object.go scalar.go union.go check.go literal.go …   shapes to types and validators
//
// # Order
//
// Names that do not come from schemas are taken first (reserve, named), then types in the order of tools and properties.
// So a schema can never take the name of something that is always there, and adding a tool at the end renames nothing.
// What needs finished types (default answers, how a block of text is written) waits for Types.Finish.
//
// # The wire
//
// Rules say where a slot stands in a message, tables of wiretable.go say which field of which struct of the runtime it
// is. A slot that only one of them has is left out. Functions are made once for each message, and a message that is
// nothing but a task shares the task's.
//
// # Schemas
//
// A place holds a conj: the schemas that a value there must satisfy, usually one. reader reads their keywords, follows
// $ref and allOf, and merges everything into one shape; the merge is exact, and what can not be merged (a second
// pattern) becomes a check beside the type. typing.go then asks which JSON kinds are left: one kind is a Go type, null
// beside it a presence, two or three kinds a sealed interface, more are check.Raw with a validator by kind. What
// validates decides and what shapes follows: an anyOf that a Go type can not carry is a validator that reads the same
// bytes, and the type is what the rest of the schema says.
//
// Recursion ends because every $ref target and every conj is made once (Types.declared, known, checks, checked). What
// needs the sight of all types waits for Finish: how a value is held, pointers that break cycles, defaults as literals,
// names of rule tables, and which functions are called at all.
//
// Unknown properties of an open object are forgotten where the schema says nothing about them. They are kept with
// additionalProperties true or a schema, in protocol documents, and wherever a check of the whole value might look at
// them, so that what is encoded again is still valid.
//
// To add a keyword: a golden in ../emit/testdata/golden that has it (and its line out of rejected/keywords.txtar), a
// field of a facet in shape.go with its merge in merge.go, a reader in the table of keyword.go, a field of the rule in
// model or, if no table can hold it, an Assertion, and the line of ../emit/rules.go or discard.go that prints it.
//
// # Types of the protocol
//
// A type that handlers see (a tool's result, what a method takes and answers, what is asked of the client) is the union of
// what the selected revisions say of it. Definitions are merged before they are lowered: properties of any, required what
// all require, bounds that all have; where they disagree the schema says less, because what one revision allows has to get
// through. So there is one decoder. An encoder is made again only for a revision that lacks a property somewhere below, and
// only for the types on the way there (view.go). Members that the runtime reads or writes itself (a task that was asked for,
// the state of a replayed call, the type of a result) are no part of the types, and _meta is an open object: a handler does
// not know which revision it answers.
//
// A member with another name in another revision is two fields. The rules map names for what the runtime reads and writes;
// for the rest no revision has needed it yet.
//
// # Rejected
//
//   - Pointers for optional scalars: an allocation each, and a nil dereference for whoever forgets to ask. hold.go.
//   - Fields in the order of the source: moving a property there would move lines of generated code and the bits of
//     tables. They stand by name.
//   - Unions decoded by the first member whose required keys are there: wrong as soon as two fit. Only a constant
//     property or the JSON kind chooses at once; the rest is tried.
//   - Reflecting over the runtime's structs instead of tables: lower would import the runtime and depend on the version
//     that it was built with. A test holds the tables against the structs.
//   - A Go type for each revision: handlers would be written once for each.
//   - A decoder for each revision: those we have differ in members that the runtime checks, and in a bound on what clients
//     never send.
//   - One wire for all packages, in the runtime: renamed fields would be code there (REV04), and packages without tasks
//     or questions would carry both.
package lower
