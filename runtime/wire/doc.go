// Package wire says what a protocol revision is to the runtime: its methods, messages and rules, as data and functions that generated
// code supplies. Nothing here serves or calls: package server does the one with a Revision, package client the other with a Dialect.
//
// Its readers are those who generate code and those who change the runtime. Ids such as REV04 are rules; testdata/traceability/ledger.tsv lists them.
//
//   - revision.go: Revision, one of which generated code makes for each protocol revision, and the rules in it
//   - capability.go: paths of capabilities; definition.go: schemas of results
//   - tool.go: what a revision shows of a tool, by package edit, which changes JSON texts
//   - op.go: what a method means, whatever its name is (REV04)
//   - message.go: the messages, each with all that any revision says in it
//   - dialect.go: Dialect, a revision for a client; layout.go: where the values of its messages stand; slot.go: what they are
//   - rule.go: reading a message by a table; shape.go: what members are held against that are kept as text
//   - writer.go: writing a message member by member; value.go: times and ids
//
// # Adding a message or a member
//
// Add the field here, and its row to the tables of generator/internal/wire; a test holds the two against each other. What fills
// and reads the field is in package server.
//
// # Rejected
//
//   - Functions for the messages of a client too: it speaks every revision, so each program that calls a tool would link all of them, to
//     gain less than the JSON around them costs. A Layout is read by one function.
//   - Layouts for what a server writes: each of its messages has a struct of its own, so that who adds a field finds who fills it, and a table would
//     need a function a field to reach it. The calls of a Writer are as short, and the compiler reads them.
//
// A type for each message of each revision: the runtime would have to know every revision by name, and a new one would be code
// (REV04). Here a revision leaves zero what it has not.
package wire
