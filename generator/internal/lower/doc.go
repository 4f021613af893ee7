// Package lower turns a manifest and protocol revisions into a model.Package. It is for those who change what a generated package
// consists of: which tools, methods, questions and policies it has, in which order, and what it does not need. Begin with package.go.
//
//	package.go             the steps, in order
//	tool.go policy.go      a tool, what cancels it, and when it is a task
//	question.go answer.go  what a handler may ask, and the answer where nobody can be asked
//	method.go result.go    requests beside tools; results that tools without an output schema give
//	capability.go          what a handler's own requests take of the client
//	custom.go registry.go  methods of the server's own; prompts and resources
//	handlername.go         how methods of Handlers are called
//	client.go              the package of a client
//	header.go              arguments that travel in HTTP headers, too
//	part.go division.go    many tools: which package holds what, and lends it
//
// # Words of this package
//
//	policy     of a tool: what cancels it and its timeout (model.CancelPolicy), whether and how it runs as a task (model.TaskPolicy)
//	question   what a handler may ask the client: a form, a page to open, a message of the client's model, its roots
//	answer     of a question: what the handler gets where nobody can be asked, or nobody does
//	result     what a tool without an output schema, a prompt or a resource gives: blocks, messages or contents
//	part       a package that holds some of the tools of a manifest with many
//	lends      of the shared package: a declaration that several parts refer to is there, with an exported name
//	root       a schema that has a type of its own (typing.Root)
//
// Ids such as REV07 are rules; testdata/traceability/ledger.tsv lists them.
//
// Three packages work for it. ../naming makes Go names out of text, ../typing makes types and validators out of schemas, and ../wire
// makes the functions and tables of a revision out of its rules.
//
// What needs finished types (default answers, how a block of text is written) waits for Types.Finish.
//
// # Rejected
//
//   - A Go type for each revision: handlers would be written once for each.
//   - A decoder for each revision: those we have differ in members that the runtime checks, and in a bound on what clients
//     never send.
package lower
