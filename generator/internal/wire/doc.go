// Package wire turns the rules of one revision into the functions and tables that the runtime needs (REV04). It is for those who add an
// operation to the runtime, or a message that it reads or writes. Begin with table.go for an operation, with slots.go for a message.
// Ids such as REV04 are rules; testdata/traceability/ledger.tsv lists them.
//
//	wire.go              Lower: a revision, as far as a package needs it
//	table.go slots.go    the runtime's side of the tables: operations, capabilities, messages and the fields of structs
//	message.go share.go  readers and appenders, one for all messages of the same content; forms.go: params that are one of several objects;
//	                     shape.go: schemas of values that the runtime stores as text
//	result.go            definitions of results, against which the runtime validates those that middleware makes
//	word.go              words of the protocol: codes, statuses, result types
//	protocol.go merge.go revisionview.go
//	                     the definitions of several revisions, merged into one document; encoders for revisions that differ from it
//	toolresult.go        that document for a tool's result alone, embedded
//	adapt.go             members and types that handlers use and a revision lacks, which the runtime leaves out or replaces
//	dialect.go           Dialect: a revision for clients, where Lower is for servers
//	sent.go              validators of what handlers send, by the definitions of one revision
//
// # Words of this package
//
//	wire       the functions and tables of one revision for a server (model.Wire); a dialect is the tables for a client (model.Dialect)
//	rules      rules.yaml of a revision, as package schema/revision reads it
//	message    a message of the rules: its definition, and where its slots are
//	slot       a value in a message that the runtime reads or writes, by its name in the rules: progressToken
//	reader     a function that decodes a message into a struct of package runtime/wire; an appender encodes one
//	operation  what a method means to the runtime, whatever its name is; op in the rules
//	need       a feature that a generated package uses: rows of the tables that only other features need are left out
//	question   a request of the server to the client, or such a request inside of a result
//	shape      the type, properties and enum of a value, for the runtime to validate it (model.WireShape)
//	owned      a member that the runtime alone reads and writes; filled: one that it writes where a handler leaves it out
//	union      what any revision defines, merged: the types of handlers are unions
//	part       what one revision says of a place, where the definitions of several are merged (merge.go)
//
// Rules say where in a message a slot is; the tables in table.go and slots.go say which field of which struct of the runtime it
// is. A slot that only the rules or only the tables have is left out. Functions, rules and definitions of the same content are made once (Shared):
// the wire of a revision uses those of a newer one.
//
// # Rejected
//
//   - Validators of every result, like those for the results of handlers: the runtime makes most results itself, so that the validators would run only
//     where middleware replaces one, and a package with five revisions would have twice the lines. The definitions of results are a line each (result.go).
//   - Reflecting over the runtime's structs instead of tables: what is generated would depend on the version of the runtime that the generator
//     was built with. A test compares the tables with the structs.
//   - One wire for all packages, in the runtime: renamed fields would be code there (REV04), and packages without tasks
//     or questions would carry both.
package wire
