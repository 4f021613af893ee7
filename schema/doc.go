// Package schema reads JSON Schema documents with the position of every value, so that each diagnostic can name one. It is for those who change how
// schemas are read and what is reported of them; package typing makes Go types of them.
//
//   - Node is one JSON value with file, line, column and JSON Pointer; Parse, ParseJSON and ParseYAML make it.
//   - Diagnostic is one finding, Diagnostics all of a run; Render shows the source line and a caret.
//   - Document is a schema with its dialect and definitions: Resolve follows a $ref, Lint reports what makes no sense,
//     Bundle makes it self-contained. Library holds the shared schemas, to which several documents refer ("#/schemas/NAME"). Linker turns schemas in files
//     into shared schemas, where references lead to them. A $ref to the dialect's own meta-schema leads to the embedded text of it, Document.Meta; every
//     other document is remote.
//   - Pack writes parsed files in a form that Packed reads many times faster than Parse reads text, a definition only when somebody asks for it.
//   - Revisions embeds a folder for each protocol revision; package revision reads them.
//
// # Codes
//
// Reading a file:
//
//	syntax empty-file multiple-documents invalid-utf8 too-deep duplicate-key
//	non-string-key yaml-alias yaml-merge yaml-number yaml-tag
//
// References and dialects:
//
//	dangling-ref remote-ref outside-folder duplicate-id dynamic-ref not-a-schema ref-circle duplicate-anchor shared-under-id
//	unknown-dialect mixed-dialects
//
// Keywords; the last seven only warn: of names and values that a schema mentions and does not allow, or does not check:
//
//	misspelt-keyword unknown-keyword keyword-type unknown-type pattern foreign-pattern go-name go-type sensitive impossible-schema
//	impossible-default conflicting-default impossible-example unused-value unknown-required overlapping-forms idle-keyword
//
// Large YAML files are read in pieces concurrently where that can not change the result (yamlsplit.go).
//
// # Rejected
//
// encoding/json and a map of values: no positions, no order, duplicate keys lost, numbers rounded. Reading with
// encoding/json.Decoder tokens keeps the order but costs five times as much and still loses columns inside strings.
//
// Files as documents of their own, down to the generator: Bundle, lint and lowering would each need two kinds of references, and names for
// their targets. Whole files in $defs, with their $id: clients refuse references that look like the network's, and would be shown
// definitions that no tool needs.
//
// yaml.Node for JSON, too: JSON would have to go through the YAML reader, which is slow, accepts texts that are
// no JSON, and reports syntax errors without a column.
//
// The reference validator (jsonschema/v5) for the lint: it lets unknown keywords pass, reads file:// references from
// the disk, and names places by JSON Pointer only. It validates defaults and examples;
// those that a type, an enum or a limit decides are not passed to it, because compiling a schema costs more than generating. Linking it alone
// costs a quarter of the instructions of a command that generates ten tools: it compiles the meta-schemas of five drafts when the program starts.
//
// Validating schemas by the meta-schemas: the table in keyword.go gives better messages and knows both
// dialects at once.
package schema
