// Package manifest reads mcpkiln.yaml, or a saved tools/list answer (the response, its result, or the list alone), into Go structs
// that remember their places. An answer is somebody else's: what would be a slip in a manifest only warns there.
//
// Load parses, reads and checks in one pass and reports everything that is wrong. load.go reads the parts, tool.go the
// tools, elicitation.go the questions; field.go has the readers of single values, revision.go the checks between
// parts, meta.go and formtext.go what the specification forbids in names and forms, notyet.go what is read but not generated so far. Tool.Advertised is what tools/list will show.
//
// # Codes
//
// Besides those of package schema:
//
//	missing-file unreadable-file no-answer manifest-version
//	unknown-key missing-key wrong-type unquoted unknown-value empty-list empty-text duplicate-entry no-uri icon-source
//	unknown-revision not-supported-yet go-package go-out
//	tool-name duplicate-tool schema-type duration impossible-policy
//	elicitation-name elicitation-schema elicitation-default meta-name
//
// Only warnings:
//
//	no-tools long-tool-name unused-policy elicitation-secret elicitation-url
//
// # Rejected
//
// Decoding with yaml.Unmarshal into structs: positions are lost, so a later stage could only name a tool, not a line.
//
// Checking with manifest.schema.json and jsonschema/v5: one validator error per run of causes, in words about
// keywords instead of about tools, and no "did you mean". The schema is for editors; a test holds it and the loader
// to the same verdicts.
package manifest
