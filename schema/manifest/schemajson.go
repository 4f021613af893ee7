package manifest

import _ "embed"

//go:embed manifest.schema.json
var schemaJSON string

// SchemaJSON returns the manifest's own JSON Schema (2020-12), for editors.
func SchemaJSON() []byte { return []byte(schemaJSON) }
