package task

import (
	"fmt"
	"slices"
)

// Edge is one transition of a task.
type Edge struct{ From, To Status }

// Machine is the state machine of a task: the edges that the protocol revisions declare (TSK07). What revisions disagree on
// (does isError fail, does cancel force) is a parameter of a transition, never another machine. Stores keep it with the
// task; as a number it adds nothing to a task's size. The zero Machine has no edges.
type Machine uint32

// NewMachine returns the machine with these edges. It refuses what the engine can not work with: an unknown status, an edge
// out of a terminal one, and a task that could get stuck: working, and each status that working leads to, need an edge to every terminal status, and one to
// working.
func NewMachine(edges []Edge) (Machine, error) {
	var m Machine
	for _, e := range edges {
		if edge(e.From, e.To) == 0 || e.From.Terminal() {
			return 0, &EdgeError{e.From, e.To}
		}
		m |= edge(e.From, e.To)
	}
	for _, from := range statuses {
		if from.Terminal() || from != Working && !m.Allows(Working, from) {
			continue
		}
		for _, to := range statuses {
			if (to.Terminal() || to == Working) && to != from && !m.Allows(from, to) {
				return 0, fmt.Errorf("there is no edge from %s to %s, which every task needs", from, to)
			}
		}
	}
	return m, nil
}

// Allows reports whether a task may go from one status to another.
func (m Machine) Allows(from, to Status) bool { return m&edge(from, to) != 0 }

// edge is the bit of an edge, 0 for an unknown status.
func edge(from, to Status) Machine {
	f, t := slices.Index(statuses[:], from), slices.Index(statuses[:], to)
	if f < 0 || t < 0 {
		return 0
	}
	return 1 << (f*len(statuses) + t)
}
