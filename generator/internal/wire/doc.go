// Package wire makes of one revision's rules the functions and tables that the runtime takes (REV04). It is for those who add an
// operation to the runtime, or a message that it reads or writes. Begin with table.go for an operation, with slots.go for a message.
// Ids such as REV04 are rules; testdata/traceability/ledger.tsv lists them.
//
//	wire.go              Lower: a revision, as far as a package needs it
//	table.go slots.go    the runtime's side: operations, capabilities, messages and the fields of its structs
//	message.go share.go  readers and appenders, one for all messages of the same content; forms.go: params that are one of several objects;
//	                     shape.go: what values are held against that the runtime keeps as text
//	result.go            definitions of results, for what middleware puts in their place
//	word.go              words of the protocol: codes, statuses, result types
//	protocol.go merge.go revisionview.go
//	                     what several revisions define, as one document; encoders where they differ
//	adapt.go             what a revision lacks of what handlers use, which the runtime leaves out or replaces
//	dialect.go           a revision for clients: the other side of what Lower makes
//	sent.go              validators of what handlers send, by the definitions of one revision
//
// Rules say where a slot stands in a message, tables of table.go say which field of which struct of the runtime it
// is. A slot that only one of them has is left out. Functions, rules and definitions are made once for each content (Shared): what a revision has in
// common with a newer one, it uses from there.
//
// # Rejected
//
//   - Validators of every result, as for those of handlers: the runtime makes most results itself, so that they would be read only where middleware
//     replaces one, and a package with five revisions would have twice the lines. Their definitions are a line each (result.go).
//   - Reflecting over the runtime's structs instead of tables: the generator would import the runtime and depend on the version
//     that it was built with. A test holds the tables against the structs.
//   - One wire for all packages, in the runtime: renamed fields would be code there (REV04), and packages without tasks
//     or questions would carry both.
package wire
