// Package manifest reads mcpkiln.yaml, or a saved tools/list answer (the response, its result, the list alone, or what mcpkiln tools --json prints), into Go structs
// with the positions of their values. The author of an answer is somebody else, so some errors of a manifest are only warnings there. The package is
// for those who add a key to the manifest; README.md is for those who write one. Ids such as VAL06 are rules;
// testdata/traceability/ledger.tsv lists them.
//
// Schemas of tools and shared schemas may refer to JSON and YAML files ($ref: schemas/order.json#/$defs/Order, or {file: …} below
// schemas), and files to each other, by path or $id. ReadFiles reads them: only below the manifest's folder, only when something is generated,
// and never from a network (VAL06). Load makes shared schemas of the schemas that references lead to, so tools/list shows no reference to a file.
//
// x-sensitive: true at a property is advertised as it is; the runtime finds it there, and shows such values nowhere.
//
// Load parses, reads and checks in one pass and reports all errors. load.go reads the parts, file.go the files beside them, tool.go the
// tools, elicitation.go the questions, prompt.go and resource.go the registries (registry.go has their types); field.go has the readers of single values,
// revision.go the checks between parts, meta.go and formtext.go the checks of names in _meta and of texts in forms; custom.go reads custom methods,
// gopackage.go the places of packages, change.go the classes of changes. lint.go has what is only advice. manifest.go has the types, advertise.go what
// tools/list will show of a tool, addtool.go the text of a manifest with one tool more, schemajson.go the JSON Schema for editors.
//
// # Words of this package
//
//   - answer: a saved result of tools/list of another server, in place of a manifest (Manifest.Answer)
//   - question: an elicitation that a handler may ask the user; its form is the schema of the answer
//   - registry: the prompts, resources or resource templates of the manifest; each entry of one embeds Listed
//   - class, axis: of a change that mcpkiln diff reports: how grave it is, and for whom it matters
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
// Checking with manifest.schema.json and jsonschema/v5: only one error for each chain of causes, in words about
// keywords instead of about tools, and no "did you mean". The schema is for editors; a test checks that it and the loader
// accept the same manifests.
package manifest
