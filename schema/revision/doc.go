// Package revision loads protocol revisions, which are data: a folder of schema documents and a rules file each. It is for those
// who add a revision or a rule; README.md says what revisions are to users. Ids such as REV04 are rules; testdata/traceability/ledger.tsv lists them.
//
// # Map
//
//   - revision.go: the Revision that the generator lowers; rules.yaml has the same shape.
//   - vocabulary.go: the runtime's half of the rules: messages and slots, ops, names of errors, headers and _meta keys.
//   - load.go: embedded revisions, and the official schema.json in place of an embedded core document.
//   - packed.go: what make golden makes of the embedded files, so that Load neither parses nor checks them: documents.bin and linked.gen.go. A test
//     fails if they do not match the files.
//   - union.go: what any of the revisions has, to find out what one of them lacks; that of the embedded ones is in linked.gen.go.
//   - decode.go, rules.go, messages.go: rules.yaml to Go values; unknown keys are errors.
//   - names.go: names of newer revisions for parts of an older one's document.
//   - link.go, linkmessage.go: rules against documents: every definition, path, status and capability exists.
//   - newrevision.go: a folder made from a published schema.json and the rules of the most similar revision; hints for rules that do not fit.
//   - place.go, jsontype.go: following a path through $ref, allOf and unions; form.go: the member by which the objects of a union are distinguished.
//
// To add a revision, let mcpkiln schema new-revision write its folder, correct the rules that it lists, move it beside the others, name it in
// schema/embed.go, and run make golden (a manifest may name it where it is: protocol.folders); to teach the runtime a new slot,
// add it to vocabulary.go and to the message's entry in the rules files.
//
// # Rules
//
// Rules do not repeat the schema: a method names the definition of its message, from which follow its name
// (checked), its params and whether they may be left out; statuses are those of the status definition.
//
// A slot is a value in a message that the runtime reads or writes: the runtime defines its name, the rules its path. An op is what a method means to
// the runtime, whatever its name is. A question is a request of the server to the client, or inside of a result (kind input).
//
// A definition reference is the name of a definition, or a name and a path where a part of the schema has no name
// ("GetTaskRequest/params"). It means the first document of the revision that has the name. A path is property names
// joined by "/"; "*" is an array's items, "." the value itself, and `$name` a key that `meta` or `extensions` names:
// such keys contain "/" and are often not in the schema.
//
// A part of a document that has another name in newer revisions, or only there has one, is listed with that name under `names`, so that rules, Go types and
// encoders of all revisions use the same name. It is renamed when the revision is loaded, with the references to it.
//
// `needs` without a capability are params of newer revisions that require something that no client can declare in this revision.
//
// Requirements of the specification's pages that a schema lacks are listed under `pages`, as keywords that are added to that
// schema. Where a schema contradicts the pages, keywords under `errata` replace its own.
//
// # Rejected
//
//   - Rules in Go, one file per revision: a folder would not be enough for a new revision (REV04), and the rules of two
//     revisions could not be compared. linked.gen.go is made of rules files.
//   - Renames as pairs (ttl to ttlMs): nesting differs as well (a task inside CreateTaskResult or flat in it), so each
//     message says where its slots are.
//   - Merging the documents of a revision into one: the tasks extension repeats definitions of the core, and its
//     references must stay inside its own document (VAL06).
package revision
