// Package manifest reads mcpkiln.yaml, or a saved tools/list answer (the response, its result, or the list alone), into Go structs
// that remember their places. An answer is somebody else's: what would be a slip in a manifest only warns there. It is
// for those who add a key to the manifest; who writes one reads README.md. Ids such as VAL06 are rules;
// testdata/traceability/ledger.tsv lists them.
//
// Schemas of tools and shared schemas may refer to JSON and YAML files ($ref: schemas/order.json#/$defs/Order, or {file: …} below
// schemas), and files to each other, by path or $id. ReadFiles reads them: below the manifest's folder, when something is generated,
// never later and never from a network (VAL06). Load makes shared schemas of what is referred to, so tools/list shows none of it.
//
// x-sensitive: true at a property is advertised as it is; the runtime finds it there, and shows such values nowhere.
//
// Load parses, reads and checks in one pass and reports everything that is wrong. load.go reads the parts, file.go the files beside them, tool.go the
// tools, elicitation.go the questions, prompt.go and resource.go the registries (registry.go is what they become); field.go has the readers of single values, revision.go the checks between
// parts, meta.go and formtext.go what the specification forbids in names and forms. Tool.Advertised is what tools/list will show.
//
// # Codes
//
// Besides those of package schema:
//
//	unknown-change missing-file unreadable-file no-answer manifest-version
//	unknown-key missing-key wrong-type unquoted unknown-value empty-list empty-text duplicate-entry no-uri icon-source
//	unknown-revision go-package go-out
//	tool-name duplicate-tool method-name custom-extension extension-name schema-type duration count impossible-policy crash-policy
//	elicitation-name elicitation-schema elicitation-default elicitation-secret meta-name
//	listed-name argument-schema needless-completion mime-type same-uri uri-template required-variable unknown-variable overlapping-templates
//
// Only warnings:
//
//	no-tools long-tool-name unused-policy elicitation-url unused-schema contradicting-hints no-description
//
// # Rejected
//
// Decoding with yaml.Unmarshal into structs: positions are lost, so a later stage could only name a tool, not a line.
//
// Checking with manifest.schema.json and jsonschema/v5: one validator error per run of causes, in words about
// keywords instead of about tools, and no "did you mean". The schema is for editors; a test holds it and the loader
// to the same verdicts.
package manifest
