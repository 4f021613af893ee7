package check

// What is in this file looks at a value without taking it: conditions that hold beside its type. Positions of members and
// items are counted, not named, so that a list of bits says which of them were evaluated.

// Fits reports whether the value that comes satisfies decode. What is wrong with it is not said.
func Fits[T any](d *Decoder, decode func(*Decoder, *T)) bool {
	t := d.trial(nil, not)
	_, ok := Try(&t, decode)
	if d.err == nil {
		d.pos = t.start
	}
	return ok
}

// HasKey reports whether the value that comes is an object with that member.
func (d *Decoder) HasKey(name string) bool {
	if d.peek() != '{' {
		return false
	}
	start := d.pos
	found := d.find(name)
	d.leave(start)
	return found && d.err == nil
}

// Dependents is the rule of dependentRequired: a member that is there demands others.
type Dependents struct {
	At      string
	Keyword string
	Needs   []Need
}

// Need says which members Key demands.
type Need struct {
	Key   string
	Names []string
}

// Needs reports the members that others demand and that the object lacks.
func (d *Decoder) Needs(r *Dependents) {
	for i := range r.Needs {
		n := &r.Needs[i]
		if !d.HasKey(n.Key) {
			continue
		}
		for _, name := range n.Names {
			if !d.HasKey(name) && !d.lost() {
				d.report(problem{level: len(d.frames), at: r.At, keyword: r.Keyword, found: "nothing", allowed: "a value, because " + quote(n.Key) + " is there", offset: d.pos, last: name})
			}
		}
	}
}

// Name checks the name of the current member.
func Name[T any](d *Decoder, decode func(*Decoder, *T)) {
	if d.err != nil {
		return
	}
	pos, key := d.pos, d.frames[len(d.frames)-1].key
	d.pos = int(key.start) - 1
	decode(d, new(T))
	if d.again(int(key.end - key.start)); d.err == nil {
		d.pos = pos
	}
}

// Keys is the rule of members that are told by patterns. Unknown says what becomes of one that matches none: Keep leaves
// it to the caller.
type Keys struct {
	At       string
	Patterns []*Pattern
	Unknown  Unknown
}

// Matches goes over the patterns that the current member's name matches:
//
//	for k := d.Match(&rule); k.Next(); {
//		switch k.Index {
//		case 0:
//			checkX(d, nil)
//		}
//	}
type Matches struct {
	Index int // of the pattern; Other if none matches

	d       *Decoder
	rule    *Keys
	name    string
	mark    Mark
	next    int
	matched bool
}

// Match begins with the current member, whose value has not been taken yet. It is not taken at the end either.
func (d *Decoder) Match(r *Keys) Matches {
	return Matches{d: d, rule: r, name: d.Key(), mark: d.Mark()}
}

// Next is true when there is a schema for the value to be checked with.
func (k *Matches) Next() bool {
	d := k.d
	if d.err == nil && d.pos > k.mark.pos {
		d.Rewind(k.mark)
	}
	for d.err == nil && k.next < len(k.rule.Patterns) {
		k.Index = k.next
		k.next++
		if k.rule.Patterns[k.Index].Match(k.name) {
			k.matched = true
			return true
		}
	}
	if d.err != nil || k.matched {
		return false
	}
	k.matched, k.Index = true, Other
	if k.rule.Unknown == Refuse && !d.lost() {
		d.unmatchedKey(k)
	}
	return k.rule.Unknown == Keep
}

// Index returns the position of the current item.
func (d *Decoder) Index() int {
	if len(d.frames) == 0 {
		return 0
	}
	return int(d.frames[len(d.frames)-1].count) - 1
}

// Contains is the rule of contains. Min counts as it stands; Max like those of other rules.
type Contains struct {
	At       string
	Min, Max int
}

// Count reports an array in which too few or too many items satisfy decode.
func Count[T any](d *Decoder, r *Contains, decode func(*Decoder, *T)) {
	if d.peek() != '[' {
		return
	}
	m, n := d.Mark(), 0
	for ok := d.Array(nil); ok; ok = d.Item() {
		if Fits(d, decode) {
			n++
		}
		d.Skip()
	}
	d.Rewind(m)
	switch {
	case n < r.Min && r.Min == 1:
		d.miscount("contains", r.At, n, "at least 1 matching item")
	case n < r.Min:
		d.miscount("minContains", r.At, n, "at least "+plural(r.Min, "matching item"))
	case r.Max != 0 && n > bound(r.Max):
		d.miscount("maxContains", r.At, n, "at most "+plural(bound(r.Max), "matching item"))
	}
}
