// Package emit turns a model.Package into Go source. It decides nothing: names, orders, policies and what is left out
// stand in the model. It is for those who change how generated code reads. Begin with emit.go, which lists the files and who makes
// each; then with the function that has the sample of what is to change above it.
//
//	emit.go       all files of a package, each made by one function
//	file.go       jennifer files: header, imports, format; comment.go: text by others, made harmless
//	handlers.go tools.go questions.go policy.go    what the user implements, and the tables behind it
//	methods.go                                     the same for requests beside tools
//	wire.go wireread.go wireshape.go wireappend.go a revision: methods, rules of what is read, appenders; composite.go: literals that fill lines
//	part.go                                        what is different where tools are divided over packages
//	docfile.go stub.go                             prose, from package templates
//	types.go validate.go read.go encode.go tuple.go …  Go types, decoders, encoders and rules, with source.go
//	condition.go                                   keywords without a Go type
//
// One declaration is one function, with a sample of its output above it.
//
// # Two writers
//
// What does not grow with the tools (wires, methods) is built with jennifer, whose trees take care of imports, commas
// and alignment, and formatted once. What grows with the tools is written line by line as gofmt would leave it, with source.go:
// building it as trees, printing them and parsing and printing them again to format took several times as long as everything else
// together. A test holds that gofmt changes nothing.
//
// One writer was rejected: jennifer alone is too slow for a thousand tools, and without it the nested tables of a wire would be
// aligned and imported by hand. The line is the file: none is written with both. Literals and chains of calls that fill lines are texts within the
// trees (composite.go), which do not know how wide they are.
//
// # Traps
//
// jennifer prints a comment that starts with slashes as it is, so every text by others goes through comment: a newline
// or //go: in a description would be live code. jen.Dict sorts its keys; field keeps the order that is written. A
// *jen.Statement that is used twice grows.
package emit
