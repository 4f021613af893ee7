// Package generator turns a manifest and protocol revisions into a Go package. Callers need Generate and Write; this page is for those
// who change what is generated. Begin with generate.go, which calls the stages in order. Ids such as REV04 are rules;
// testdata/traceability/ledger.tsv lists them.
//
// # Where to look
//
//	where a keyword becomes a type    internal/typing/typing.go; before that internal/typing/readkeyword.go reads it (its row: internal/typing/keyword.go)
//	what source is written for it     internal/emit
//	what is made of a tool            internal/lower/tool.go; its questions: internal/lower/question.go
//	what is made of a revision        internal/wire/table.go
//	how things are called             internal/naming; types: internal/typing/typename.go
//	keys of the manifest              schema/manifest/load.go
//	which files there will be         plan.go; what a run does with them: write.go, check.go
//
// # Stages
//
//	load     bytes → manifest, revisions     schema, schema/manifest, schema/revision
//	resolve  what is left open or overridden  generate.go
//	lower    → model.Package                  internal/lower, typing, wire, naming: every name, order and policy is decided here
//	emit     → Go source                      internal/emit: transcribes the model, decides nothing
//	format   → gofmt, imports grouped         internal/emit/file.go
//	write    → disk                           plan.go, diskstate.go: compare with what is there; write.go, check.go: act, or tell
//
// Everything before write is pure: Generate reads no file, no clock and no environment, loads nobody's packages, and
// gives the same bytes for the same Config, which holds what Config.Read reads. Whatever is
// wrong is collected as diagnostics with file, line and column; if one is an error there are no files.
//
// # Changing it
//
// To add a JSON Schema keyword: the form of its value in schema/keyword.go, a row in internal/typing/keyword.go with a reader in
// internal/typing/readkeyword.go, and its rule or condition in internal/model, internal/emit and runtime/check. The end of "Schemas" in
// package typing has the details, and the files that know keywords beside these.
//
// To add a protocol revision: a folder with documents and rules under schema/ (REV04). Methods, paths, task edges and
// capabilities follow from it; the wire file is generated. Only something that the runtime has never done needs code: a
// row in the tables of internal/wire/table.go and the operation in runtime/wire.
//
// To add something to every generated package: a field in the model, the decision in lower, one emit function with a
// sample of its output above it, and a golden that says what it proves.
//
// # Generated files
//
// Every Go file starts with Header and a hash of itself, and with nothing that changes by itself: an upgrade of mcpkiln that generates
// the same touches no file. So a file says alone whether it is as it was generated, was edited by hand, or is somebody's own (seal.go).
// doc.gen.go says of which manifest the package is made and has a digest of all that was read; mcpkiln.lock has the manifest, the version
// that last changed a file, and the flags. Either of the two is enough to know a directory, and neither has to be there to repair it.
//
// # On disk
//
// What a run has to do follows from what is on disk and from nothing that an earlier run had to finish: files that differ are staged and
// renamed, files with our header that are no longer made are removed, in the output directories and in those that the manifest has
// left (plan.go). So a killed run is repaired by any later one. The lock is written first and removed last, which keeps a half-written
// directory known. One run at a time writes in a module; the system ends the lock with the process (package disk).
//
// An edit by hand stops the run. Conflict markers do not: both sides are in the history, and what a merge of two packages would be is
// what the merged manifest generates. Every file has its hash in the same line, so that a merge can not silently mix two of them.
//
// Each tool is one hunk in each file: the tool table is one literal with the policies in it, and a question
// stands with the method that asks it.
//
// # Many tools
//
// The compiler takes by far the longest of all steps, and a changed tool costs as much as all that share its package. So more
// than 200 tools (Config.MaxTools) are divided: code and types of each stand in one of 16 packages below internal/, what several
// of those use in internal/shared, and the generated package has other names for all types (type A = part03.A), the whole
// Handlers and New. Who imports it sees no difference, but a type there can get no methods in a file of one's own beside it.
//
// A tool's part follows from its name alone, so that tools that come and go move no others. A package that grows past the
// bound is divided once; who uses it does not change.
//
// Parts call functions of the shared package through functions that do nothing else, inlined by the compiler, so that code is
// written in one way wherever it stands. The tables of shared enums, which are data, stand in each part.
//
// # Clients
//
// With go.client in the manifest there is a package of a client; without go.out beside it, that is all. The types of its tools, and of a
// server beside it, stand in the package schema below the client's, since the client is what others import: that package imports
// runtime/check alone, and both have other names for what is in it. A property with a default is optional in Go then, because a client must be
// able to leave it out. Such a package is not divided, however many tools there are, and neither are those of its server: the parts of both
// would need the same types. Building again after a change to one of a thousand tools takes about 10 s of processor time for a client alone
// and 15 s for a client and its server, where a divided server without one takes 2 s.
//
// # Cost
//
// Linear in the tools. Of the time for a thousand, about a third goes to the YAML reader, a quarter to lowering, a sixth to
// emitting, a tenth to the linter, nothing to formatting: what grows with the tools is written as it should look. Loading
// revisions and starting the program are fixed costs, half of the time for a few tools, though the revisions come parsed (package revision). YAML is read in pieces at once, tools are loaded and files
// emitted at once; lowering is one after the other, because names are handed out in order.
//
// Of the manifest one form at a time is in memory: YAML goes as nodes are made of it, nodes when there is a model, and what a file held
// before it had its hash. For 5,000 tools that is a third of the peak (BenchmarkThousandsOfTools in internal/endurance).
//
// # Rejected
//
//   - Text templates for code: imports, unused functions and hostile descriptions would each need their own care in each
//     template. They remain for prose: the package's doc, and stubs.
//   - Loading the user's package to see what is there: a generator that needs code to compile can not mend code that
//     does not. A missing method is the compiler's to report, at the assertion in the stub.
//   - Numbering Go names that collide between tools (GetQuote2): the number would move when tools are reordered, and
//     handlers would silently change places. It is an error that names both tools.
//   - Merging new parts into existing files between markers: regions get edited, moved and lost. Generated files are
//     generated whole, user files are written once.
//   - Overwriting in place with a backup: a second run would overwrite the backup. Files are staged beside the target and
//     renamed, all or none.
//   - Hashes of the manifest and the files in the lock: every merge conflicted there, and without it nothing was known.
//   - Stage and rename of the whole directory: files of one's own may stand in it, and no rename swaps directories everywhere.
//   - A lock file: a killed run leaves it. The lock is on the module's directory, which two manifests share that have one output.
//   - One function a tool in the parts, called in the manifest's order: inlined, its code was compiled again in the package
//     above, and a thousand conversions of Handlers cost more than all that package's types.
//   - Handlers as the interfaces of the parts, embedded: its documentation would be behind a click for each part.
//   - A line for each member in the rule of an object: tools of six properties and an output of two have 67 lines of code each, 85 with
//     comments and blank lines, and would have 75. The
//     difference of an added property would be no smaller where it is read: the members stand in the order of the alphabet, so the cases
//     of the decoder that follow it get other numbers all the same.
//   - Types in the client's package, without one for the types: a server would link a client.
//   - A key of the manifest for the directory of the types: one more thing to decide that nobody asks for.
//   - As many parts as the tools need: each new one would move the tools of all.
//   - One lock beside the manifest for all its output: two manifests with one output directory each would share it, and
//     moving a package would leave it behind. It stands in the directory that it describes.
package generator
