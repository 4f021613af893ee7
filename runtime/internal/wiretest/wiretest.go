// Package wiretest has the protocol revisions for tests of the runtime: what the generator makes of mcpkiln.yaml, so that a test about
// the form of a message sees what clients of a generated server see. A test of the generator fails when they are out of date;
// go test ./generator -update regenerates them. It is for tests of the runtime; nobody edits it.
package wiretest

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Revision20251125 returns a copy, which the caller may change.
func Revision20251125() *wire.Revision { return clone(wire20251125) }

// Revision20260728 returns a copy, which the caller may change.
func Revision20260728() *wire.Revision { return clone(wire20260728) }

func clone(r wire.Revision) *wire.Revision {
	r.Methods, r.Outgoing = slices.Clone(r.Methods), slices.Clone(r.Outgoing)
	return &r
}

// What handlers write is validated in complete generated packages. Here any JSON will do.
func checkSentCallToolResult20251125(d *check.Decoder) { d.Skip() }
func checkSentCallToolResult(d *check.Decoder)         { d.Skip() }
