package tasktest

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// fault is a store with one fault, and the checks that have to notice.
type fault struct {
	name    string
	noticed []string
	open    func(task.Store) task.Store
}

var faults = slices.Concat(stateFaults, leaseFaults, listFaults, quotaFaults, timeFaults, journalFaults)
