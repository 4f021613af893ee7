// Package lower turns a manifest and protocol revisions into a model.Package. Every decision of the generator is made
// here: what things are called and in which order they come, which Go type a schema is, which policies hold, and what a
// package does not need.
//
//	package.go tool.go policy.go question.go answer.go result.go   the package and its tools
//	wire.go wiremessage.go wiretable.go                            a revision's rules, joined with the runtime's tables
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
// # Rejected
//
//   - Reflecting over the runtime's structs instead of tables: lower would import the runtime and depend on the version
//     that it was built with. A test holds the tables against the structs.
//   - One wire for all packages, in the runtime: renamed fields would be code there (REV04), and packages without tasks
//     or questions would carry both.
package lower
