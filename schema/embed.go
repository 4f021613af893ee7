package schema

import "embed"

// Revisions holds a folder for each protocol revision that mcpkiln knows: its documents and rules.yaml. After an edit run make golden: package
// revision reads what it makes of them.
//
//go:embed 2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28
var Revisions embed.FS
