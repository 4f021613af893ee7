// Package schema reads JSON Schema documents so that everything said about them can name its place. It is for those who change how
// schemas are read and what is reported of them; package typing makes Go types of them.
//
//   - Node is one JSON value with file, line, column and JSON Pointer; Parse, ParseJSON and ParseYAML make it.
//   - Diagnostic is one finding, Diagnostics all of a run; Render shows the source line and a caret.
//   - Document is a schema with its dialect and definitions: Resolve follows a $ref, Lint reports what makes no sense,
//     Bundle makes it self-contained. Linker makes shared schemas of what references lead to in files. Library holds schemas that several documents share ("#/schemas/NAME").
//     A $ref to the dialect's own meta-schema leads to our text of it, Document.Meta; every other document is remote.
//   - Pack writes parsed files in a form that Unpack reads many times faster than Parse reads text.
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
// Keywords; the last six are about what a schema names and does not allow, or does not check, and only warn:
//
//	misspelt-keyword unknown-keyword keyword-type unknown-type pattern foreign-pattern go-name go-type sensitive impossible-schema
//	impossible-default impossible-example unused-value unknown-required overlapping-forms idle-keyword
//
// Large YAML files are read in pieces at once where that can not change what they say (yamlsplit.go).
//
// # Rejected
//
// encoding/json and a map of values: no positions, no order, duplicate keys lost, numbers rounded. Reading with
// encoding/json.Decoder tokens keeps the order but costs five times as much and still loses columns inside strings.
//
// Files as documents of their own, down to the generator: Bundle, lint and lowering would each need two kinds of references, and names for
// what they lead to. Whole files in $defs, with their $id: clients refuse references that look like the network's, and would be shown
// what no tool needs.
//
// yaml.Node as the common form: JSON would have to go through the YAML reader, which is slow, takes things that are
// no JSON, and reports syntax errors without a column.
//
// The reference validator (jsonschema/v5) for the lint: it lets unknown keywords pass, reads file:// references from
// the disk, and names places by JSON Pointer only. It checks defaults and examples, where its answer is the point;
// the ones that a type, an enum or a limit decides never reach it, because compiling costs more than generating.
//
// Holding metaschemas to find wrong keyword values: the table in keyword.go gives better messages and knows both
// dialects at once.
package schema
