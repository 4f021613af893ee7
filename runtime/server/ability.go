package server

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// ability is a set of what a client declared: bits by the place in revision.declarable.
type ability uint32

// canTasks: the client takes tasks in answer to calls (EXT03).
const canTasks ability = 1

// questionRule is an Outgoing that asks the client, with its capability as abilities.
type questionRule struct {
	*wire.Outgoing
	name  string    // of the capability in lists of the manifest
	base  ability   // the whole of the capability
	parts []ability // of Needs
}

// compileQuestions numbers what clients of the revision can declare: canTasks is the first.
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
	rev.tellsRoots = bit(rev.Capabilities.RootsChanged)
	if rev.AppendElicit != nil {
		rev.form = rev.AppendElicit(nil, &wire.Elicit{RequestedSchema: []byte("{}")})
	}
	for i := range rev.questionRules {
		if q := &rev.questionRules[i]; q.Op == wire.OpElicit {
			rev.asking, rev.page = q.takes(rev.form), q.params()
		}
	}
}

// params are such that they take the parts of the capability that a client has to declare by name.
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

// listedName is how a manifest lists what the request takes. Revisions have different places for an extension, so that has its own name.
func listedName(o *wire.Outgoing) string {
	if o.Op != wire.OpCustomRequest {
		return o.Capability
	}
	return wire.UnescapeStep(o.Capability[strings.LastIndexByte(o.Capability, '/')+1:])
}

// listed are the abilities that a manifest's list of capabilities stands for. It says what a client with the same in its declaration can (LET20).
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

// takes are the abilities that these params take.
func (q *questionRule) takes(params []byte) ability {
	takes, members := q.base, membersOf(params)
	for i, n := range q.Needs {
		if n.Takes(members[n.Member]) {
			takes |= q.parts[i]
		}
	}
	return takes
}

// abilities reads a client's declaration.
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

// implied are the parts that a client has which declares the whole alone. One that names the part, with whatever that is no declaration,
// has said no (LET21).
func (q *questionRule) implied(can ability, raw []byte) (also ability) {
	for i, n := range q.Needs {
		if n.Default && can&q.base != 0 && can&q.others(n.Member, i) == 0 && at(raw, n.Capability) == nil {
			also |= q.parts[i]
		}
	}
	return also
}

// others are the parts that other values of the member take.
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

// abilitiesOf are the abilities of these names. Names that the revision does not have are left out.
func (rev *revision) abilitiesOf(names []string) (can ability) {
	for i, path := range rev.declarable {
		if path != "" && slices.Contains(names, path) {
			can |= 1 << i
		}
	}
	return can
}
