// Package wire describes protocol revisions for the runtime: their methods, messages and rules, as data and functions that generated
// code supplies. It neither serves nor calls: package server serves with a Revision, package client calls with a Dialect.
//
// It is for those who generate code for revisions, or change the runtime. Ids such as REV04 are rules; testdata/traceability/ledger.tsv lists them.
//
//   - revision.go: Revision, one of which generated code makes for each protocol revision, and the rules in it
//   - capability.go: paths of capabilities; definition.go: schemas of results
//   - tool.go: what a revision shows of a tool; package edit changes the JSON text for that
//   - op.go: what a method means, whatever its name is (REV04)
//   - message.go: the messages, each with the values that it has in any revision
//   - dialect.go: Dialect, a revision for a client; layout.go: where the values of its messages are; slot.go: what they are
//   - rule.go: reading a message by a table; shape.go: validating members that are kept raw
//   - writer.go: writing a message member by member; value.go: times and ids
//
// # Words of this package
//
//	raw            JSON text, not decoded
//	slot           a value in messages, such as the cursor of a list, whatever its name and place in a revision
//	layout         where the slots of a message are, for a client; a Rule is that for a server, which only reads
//	shape          what the protocol's schema says of a member that is kept raw
//	handshake      initialize, with which revisions before 2026-07-28 begin; the others are stateless
//	question       a request to the client for input: of the user, a model, or roots
//	input request  a question that is not a request of its own, but part of a result or a task
//	path           of a capability: the names of the members that lead to its declaration, see Capabilities
//	form           a question that the client shows to the user as fields, by a schema; of a Union (Forms): one of the objects that a member may be
//
// # Adding a message or a member
//
// Add the field here, and its row to the tables of generator/internal/wire; a test compares the two. The code that fills
// and reads the field is in package server.
//
// # Rejected
//
//   - Functions for the messages of a client, too: a client supports every revision, so each program that calls a tool would link all of them, to
//     gain less than the JSON around the values costs. A Layout is read by one function.
//   - Layouts for messages that a server writes: each message has a struct of its own, so that the compiler shows where a new field is filled, and a
//     table would need a function for each field to reach it. The calls of a Writer are as short, and the compiler checks them.
//   - A type for each message of each revision: the runtime would have to know every revision by name, and a new one would be code
//     (REV04). Here a revision leaves zero what it does not have.
package wire
