// Package lower turns a manifest and protocol revisions into a model.Package. It is for those who change what a generated package
// consists of: which tools, methods, questions and policies it has, in which order, and what it does not need. Begin with package.go.
//
//	package.go             the steps, in order
//	tool.go policy.go      a tool, what cancels it, and when it is a task
//	question.go answer.go  what a handler may ask, and the answer where the client can not ask its user
//	method.go result.go    requests beside tools; the results of tools without an output schema
//	capability.go          the client capabilities that requests of handlers need
//	custom.go registry.go  custom methods; prompts and resources
//	handlername.go         the names of methods of Handlers
//	client.go              the package of a client
//	header.go              arguments that are repeated in HTTP headers
//	part.go division.go    many tools: which package each declaration is in, and which other packages use it
//
// # Words of this package
//
//	policy     of a tool: what cancels it and its timeout (model.CancelPolicy), whether and how it runs as a task (model.TaskPolicy)
//	hidden     the x-sensitive properties of a tool's input and output, whose values no error shows: an error about the output may quote the input
//	asker      what a handler may ask the client: the name of its Call type, its questions, and the client capabilities that they need (model.Asker)
//	question   an elicitation that the manifest declares (model.Question); also, whatever else a handler may ask the client in the middle of a call
//	send       a request to the client that a handler sends by a function (model.Send); a notice is a custom notification
//	registry   the prompts, or the resources and templates, that the manifest lists, and that the runtime serves with their handlers
//	entry      a prompt, a resource or a resource template: an element of a registry
//	result     of a tool without an output schema: the protocol's own CallToolResult
//	part       a package that has some of the tools of a manifest with many
//	to lend    of the shared package: to declare, under an exported name, what other packages call
//	view       the encoder and the validator of a message for one revision (model.View)
//	wire       the functions and tables of one revision for the runtime (model.Wire)
//	root       a schema that has a type of its own (typing.Root)
//	served     of a revision: one that the manifest lists, for which the package is generated (Input.Revisions)
//	known      every revision that mcpkiln has, served or not (Input.Known)
//
// Ids such as REV07 are rules; testdata/traceability/ledger.tsv lists them.
//
// Three packages work for this one. ../naming makes Go names out of text, ../typing makes types and validators out of schemas, and ../wire
// makes the functions and tables of a revision out of its rules.
//
// Steps that need finished types (default answers, how a block of text is written) run after Types.Finish.
//
// # Rejected
//
//   - A Go type for each revision: handlers would be written once for each.
//   - A decoder for each revision: the existing revisions differ only in members that the runtime checks, and in a bound on
//     values that clients never send.
package lower
