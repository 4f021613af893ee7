package server

import (
	"hash/maphash"
	"sync/atomic"
)

// ability is a set of what a client declared.
type ability uint8

const (
	canForms  ability = 1 << iota // shows forms
	canSample                     // serves sampling
	canRoots                      // lists roots
	canTasks                      // takes tasks in answer to calls (EXT03)
	canElicit                     // elicitation of any kind
)

// abilities reads a client's declaration.
func (w *wire) abilities(raw []byte) (a ability) {
	c := &w.Capabilities
	for _, d := range [...]struct {
		path string
		can  ability
	}{{c.Elicit, canElicit}, {c.Sampling, canSample}, {c.Roots, canRoots}, {c.ClientTasks, canTasks}} {
		if declares(raw, d.path) {
			a |= d.can
		}
	}
	if c.asksForms(raw) {
		a |= canForms
	}
	return a
}

// abilityOf is what a request of the op takes, and where a client declares it.
func (w *wire) abilityOf(op Op) (ability, string) {
	switch op {
	case OpElicit:
		return canElicit, w.Capabilities.Elicit
	case OpCreateMessage:
		return canSample, w.Capabilities.Sampling
	case OpListRoots:
		return canRoots, w.Capabilities.Roots
	}
	return 0, ""
}

// declarations remembers what the declarations of a stateless revision mean: clients send the same with every request.
// It holds a few, found by hash, so that clients can not fill it.
type declarations struct {
	seed maphash.Seed
	seen [64]atomic.Pointer[declared]
}

type declared struct {
	wire *wire
	raw  string
	can  ability
}

// maxRemembered is the longest declaration that is worth remembering, in bytes.
const maxRemembered = 4 << 10

func (d *declarations) abilities(w *wire, raw []byte) ability {
	slot := &d.seen[maphash.Bytes(d.seed, raw)%uint64(len(d.seen))]
	if known := slot.Load(); known != nil && known.wire == w && known.raw == string(raw) {
		return known.can
	}
	can := w.abilities(raw)
	if len(raw) <= maxRemembered {
		slot.Store(&declared{w, string(raw), can})
	}
	return can
}
