// Package emit turns a model.Package into Go source. It decides nothing: names, orders and policies are in the model, and what a package does
// not need is not in the model. It is for those who change how generated code reads. Begin with emit.go, which lists the functions that make
// the files; then find the function that writes the code that is to change: most have a sample of it in their comments.
//
//	emit.go       all files of a package, each made by one function
//	file.go       jennifer files: header, imports, format; comment.go: descriptions as comments, made harmless
//	handlers.go tools.go registry.go questions.go policy.go  what the user implements, and the tables behind it
//	methods.go notices.go                          the same for requests beside tools, and for notices
//	client.go                                      a client; dialect.go: revisions for runtime/client
//	wire.go wireread.go wireshape.go wireappend.go a revision: methods, rules for reading, appenders; composite.go: literals that fill lines, or are tables
//	part.go                                        what is different where tools are divided over packages
//	docfile.go stub.go                             prose, from the templates of package templates
//	types.go validate.go read.go encode.go         Go types, decoders and encoders, with source.go
//	union.go tuple.go literal.go rules.go          unions, tuples, defaults, rule tables
//	condition.go discard.go                        keywords without a Go type; values that are validated and not stored
//
// One declaration is one function, with a sample of its output above it where its lines do not show that.
//
// # Words of this package
//
// Those of package model, such as kind, validator, rule table, entry and wire, and:
//
//	file, maker   a file of the generated package; the function that makes it from the model
//	decoder       a function that reads and validates a value of a generated type; an encoder appends one as JSON
//	reader        of a wire: a function that reads a protocol message; an appender writes one
//	view          the encoder and the validator of a message for one revision (model.View)
//	codec         the functions for what a method receives and sends, or for a tool's output: decoder, encoder, validator
//	asker         a handler that has questions for the user (model.Asker)
//	notice        a custom notification
//	shared        of a package: it declares what parts, or server and client, have in common; it lends them functions, under exported names
//
// # Two writers
//
// What nearly every package has (types, decoders, tools, wires) is written line by line as gofmt would leave it, with source.go. As trees that are
// built, printed, and for the format parsed and printed again, it took several times as long as everything else together, and for a package of ten
// tools a tenth of the whole run. A test checks that gofmt changes nothing. What few packages have (methods beside tools), and what is generated for
// this module alone (dialect.go), is built with jennifer, whose trees take care of imports, commas and alignment, and formatted once.
//
// A single writer was rejected: jennifer alone is too slow, and without it imports would have to be collected by hand everywhere. No file is written
// with both. Literals and chains of calls that fill lines are inserted as text (composite.go): jennifer does not wrap lines by their width.
//
// # Traps
//
// jennifer prints a comment that starts with slashes as it is, so every text of a manifest or schema goes through comment: a newline
// or //go: in a description would be live code. jen.Dict sorts its keys; field keeps the order in which fields are written. A
// *jen.Statement that is used twice grows.
package emit
