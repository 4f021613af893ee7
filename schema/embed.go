package schema

import "embed"

// Revisions holds a folder for each protocol revision that mcpkiln knows: its documents and rules.yaml.
//
//go:embed 2025-11-25 2026-07-28
var Revisions embed.FS
