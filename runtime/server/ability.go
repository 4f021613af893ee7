package server

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// ability is a set of client capabilities, declared or required: bit i stands for the capability at the path revision.declarable[i].
type ability uint32

// canTasks is the ability to accept a task in answer to a call (EXT03).
const canTasks ability = 1

// questionRule says which abilities a kind of request to the client requires.
type questionRule struct {
	*wire.Outgoing
	name  string    // of the capability in the manifest's clientCapabilities
	base  ability   // the capability itself
	parts []ability // by index in Needs: the part of the capability that some params require
}

// compileQuestions makes questionRules, and numbers the capabilities that clients of the revision can declare: canTasks is the first.
func (rev *revision) compileQuestions() {
	rev.declarable = []string{rev.Capabilities.ClientTasks}
	bit := func(path string) ability {
		if path == "" {
			return 0
		}
		i := slices.Index(rev.declarable, path)
		if i < 0 {
			i, rev.declarable = len(rev.declarable), append(rev.declarable, path)
		}
		return 1 << i
	}
	for i := range rev.Outgoing {
		o := &rev.Outgoing[i]
		if o.Capability == "" {
			continue
		}
		q := questionRule{Outgoing: o, name: listedName(o), base: bit(o.Capability)}
		for _, n := range o.Needs {
			q.parts = append(q.parts, bit(n.Capability))
		}
		rev.questionRules = append(rev.questionRules, q)
	}
	for _, path := range rev.Capabilities.Extensions { // a client declares them at the same paths as the server
		rev.extensions |= bit(path)
	}
	rev.tellsRoots = bit(rev.Capabilities.RootsChanged)
	if rev.AppendElicit != nil {
		rev.form = rev.AppendElicit(nil, &wire.Elicit{RequestedSchema: []byte("{}")})
	}
	for i := range rev.questionRules {
		if q := &rev.questionRules[i]; q.Op == wire.OpElicit {
			rev.formNeeds, rev.page = q.requires(rev.form), q.params()
		}
	}
}

// tellsCustom reports whether a client with these abilities is sent custom notifications: the server has no extensions, or the client has declared one of
// them (SRV08).
func (rev *revision) tellsCustom(can ability) bool {
	return len(rev.Capabilities.Extensions) == 0 || can&rev.extensions != 0
}

// params returns sample params that require the parts which a client has to declare by name, such as elicitation/url.
func (q *questionRule) params() []byte {
	members := map[string]string{}
	for _, n := range q.Needs {
		if !n.Default && len(n.Values) > 0 {
			members[n.Member] = n.Values[0]
		}
	}
	b, _ := json.Marshal(members) // strings do not fail
	return b
}

// listedName is the name of the required capability in a manifest: its path, or of an extension its name, because its path differs between revisions.
func listedName(o *wire.Outgoing) string {
	if o.Op != wire.OpCustomRequest {
		return o.Capability
	}
	return extensionAt(o.Capability)
}

// extensionAt is the name of the extension that is declared at path.
func extensionAt(path string) string {
	return wire.UnescapeStep(path[strings.LastIndexByte(path, '/')+1:])
}

// listed returns the abilities of a client that declares exactly these names of a manifest's clientCapabilities (LET20).
func (rev *revision) listed(names []string) (all ability) {
	for i := range rev.questionRules {
		all |= rev.questionRules[i].listed(names)
	}
	return all
}

func (q *questionRule) listed(names []string) (all ability) {
	for _, name := range names {
		part, ok := strings.CutPrefix(name, q.name)
		if !ok || part != "" && part[0] != '/' {
			continue
		}
		all |= q.base
		for i, n := range q.Needs {
			if n.Capability == name {
				all |= q.parts[i]
			}
		}
	}
	return all | q.implied(all, nil)
}

// requires returns the abilities that a request with these params requires.
func (q *questionRule) requires(params []byte) ability {
	required, members := q.base, membersOf(params)
	for i, n := range q.Needs {
		if n.Applies(members[n.Member]) {
			required |= q.parts[i]
		}
	}
	return required
}

// abilities reads the capabilities that a client declares.
func (rev *revision) abilities(raw []byte) (can ability) {
	for i, path := range rev.declarable {
		declared := declares(raw, path)
		if ability(1)<<i == rev.tellsRoots {
			declared = string(at(raw, path)) == "true" // the only boolean
		}
		if declared {
			can |= 1 << i
		}
	}
	for i := range rev.questionRules {
		can |= rev.questionRules[i].implied(can, raw)
	}
	return can
}

// implied returns the parts that a client has without naming them, as "elicitation": {} implies forms: it declares the capability, and no part that
// another value of the same member requires. A part that it names, but not with an object, is not implied (LET21).
func (q *questionRule) implied(can ability, raw []byte) (also ability) {
	for i, n := range q.Needs {
		if n.Default && can&q.base != 0 && can&q.others(n.Member, i) == 0 && at(raw, n.Capability) == nil {
			also |= q.parts[i]
		}
	}
	return also
}

// others returns the parts that other values of the member require.
func (q *questionRule) others(member string, except int) (all ability) {
	for i, n := range q.Needs {
		if n.Member == member && i != except {
			all |= q.parts[i]
		}
	}
	return all
}

// appendAbilities appends the abilities by name: bits mean nothing to another process.
func (rev *revision) appendAbilities(b []byte, can ability) []byte {
	b = append(b, '[')
	for i, path := range rev.declarable {
		if can&(1<<i) == 0 {
			continue
		}
		if b[len(b)-1] != '[' {
			b = append(b, ',')
		}
		b = check.AppendString(b, path)
	}
	return append(b, ']')
}

// abilitiesOf returns the abilities with these names. Names that the revision does not have are left out.
func (rev *revision) abilitiesOf(names []string) (can ability) {
	for i, path := range rev.declarable {
		if path != "" && slices.Contains(names, path) {
			can |= 1 << i
		}
	}
	return can
}
