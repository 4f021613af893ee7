// Package change compares two versions of a manifest, or two protocol revisions, and says what the differences mean (REV05, REV08). It is for
// those who add a kind of change: an id with its class in schema/manifest/change.go, and here the comparison that finds it.
// Ids such as REV05 are rules; testdata/traceability/ledger.tsv lists them.
//
//	change.go     Compare: both sides, and what is common to all changes
//	tool.go       callers: tools and their schemas; inputs and outputs are compared in opposite directions
//	claimed.go    callers: properties that only a new schema names
//	default.go    callers: defaults of arguments
//	limits.go     callers: timeouts, concurrency, how long tasks are kept
//	entry.go      callers: prompts, resources, methods, the server itself
//	api.go        handlers: what generated packages export
//	needs.go      callers: the client capabilities that handlers need
//	running.go    tasks and questions that are open when the new server starts
//	revision.go   Move: what another protocol revision changes for the same manifest
//
// # Words of this package
//
//	side        the old or the new state of a server
//	class       how grave a change is; its axis: whom it concerns: callers, handlers, the wire, open tasks (manifest.ChangeRule)
//	entry       a prompt, resource, resource template, method or extension: what the server offers beside tools
//	question    an elicitation that the manifest declares
//	definition  what tools/list shows of a tool; of a revision: a definition of its schema.json
//	gone        of a change: it is about something that only the old side has
//	received    of a schema: it is for values that the server receives; sent: for values that it sends
//	allOf       all schemas that apply to one value
//
// Both sides are complete packages, generated in memory, so this package need not know how a manifest becomes one. Schemas are compared by
// meaning (package subsume), Go code by the text of declarations: handlers have to be changed where the text of a type changes.
package change
