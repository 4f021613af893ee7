// Package change says what it means that a manifest has changed, or that a protocol revision follows another one (REV05, REV08). It is for
// those who add a kind of change: an id with its class in schema/manifest/change.go, and here the comparison that finds it.
// Ids such as REV05 are rules; testdata/traceability/ledger.tsv lists them.
//
//	change.go     Compare: both sides, and what is common to all changes
//	tool.go       callers: tools and their schemas, in opposite directions
//	default.go    callers: what is taken for arguments that are left out
//	limits.go     callers: how long, how many, and for how long they are kept
//	entry.go      callers: prompts, resources, methods, the server itself
//	api.go        handlers: what generated packages export
//	needs.go      callers: what handlers take of the client
//	running.go    tasks and questions that are open when the new server starts
//	revision.go   Move: what another protocol revision changes for the same manifest
//
// Both sides are complete packages, generated in memory, so nothing is known here of how a manifest becomes one. Schemas are compared by
// meaning (package subsume), Go by the text of declarations: a type that is spelt otherwise has to be written otherwise in handlers, too.
package change
