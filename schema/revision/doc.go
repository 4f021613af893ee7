// Package revision loads protocol revisions, which are data: a folder of schema documents and a rules file each. It is for those
// who add a revision or a rule; README.md says what revisions are to users. Ids such as REV04 are rules; testdata/traceability/ledger.tsv lists them.
//
// # Map
//
//   - revision.go: the Revision that the generator lowers; rules.yaml has the same shape.
//   - vocabulary.go: the runtime's half of the rules: messages and slots, ops, names of errors, headers and _meta keys.
//   - load.go: embedded revisions, and the official schema.json in place of an embedded core document.
//   - packed.go: documents.bin, what the embedded files parse to; make golden writes it, and a test fails where it is not what they say.
//   - union.go: what the revisions have between them, so that one can be told what it lacks; that of the embedded ones is packed, too.
//   - decode.go, rules.go, messages.go: rules.yaml to Go values; unknown keys are errors.
//   - names.go: names of newer revisions for parts of an older one's document.
//   - link.go, linkmessage.go: rules against documents: every definition, path, status and capability exists.
//   - newrevision.go: a folder made of a published schema.json and the rules of the nearest revision; hints at what does not fit.
//   - place.go, jsontype.go: following a path through $ref, allOf and unions; form.go: what tells the objects of a union apart.
//
// To add a revision, let mcpkiln schema new-revision write its folder, mend the rules that it lists, move it beside the others, name it in
// schema/embed.go, and run make golden (a manifest may name it where it is: protocol.folders); to teach the runtime a new slot,
// add it to vocabulary.go and to the message's entry in the rules files.
//
// # Rules
//
// What the schema says is not repeated: a method names the definition of its message, from which follow its name
// (checked), its params and whether they may be left out; statuses are those of the status definition.
//
// A definition reference is the name of a definition, or a name and a path where the schema leaves something unnamed
// ("GetTaskRequest/params"). The first document of the revision that has the name is meant. A path is property names
// joined by "/"; "*" is an array's items, "." the value itself, and `$name` a key that `meta` or `extensions` names:
// such keys contain "/" and are often not in the schema.
//
// A part of a document that newer revisions call otherwise, or give a name at all, has that name under `names`: rules, Go types and
// encoders of all revisions speak of it in one way. It is renamed when the revision is loaded, its references with it.
//
// `needs` without a capability are params of newer revisions that ask for what nobody can declare in this one.
//
// What the pages of the specification demand of a value, and its schema does not say, stands under `pages` as keywords of that
// schema: they hold as if they stood there. Where its schema contradicts the pages, keywords under `errata` replace its own.
//
// # Rejected
//
//   - Rules in Go, one file per revision: a folder would not be enough for a new revision (REV04), and what a revision
//     means could not be compared with another's.
//   - Renames as pairs (ttl to ttlMs): nesting differs as well (a task inside CreateTaskResult or flat in it), so each
//     message says where its slots are.
//   - Merging the documents of a revision into one: the tasks extension repeats definitions of the core, and its
//     references must stay inside its own document (VAL06).
package revision
