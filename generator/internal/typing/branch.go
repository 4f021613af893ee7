package typing

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// branch is one schema of an anyOf or oneOf, merged with the other keywords of the schema that has the group (its owner).
type branch struct {
	node  *schema.Node
	shape *shape
	own   *shape // without the keywords of the owner
}

// branches merges each branch with base. The branches of an anyOf in an anyOf are branches of the outer one.
func (l *lowering) branches(base *shape, g group) []branch {
	f := &flattening{lowering: l, seen: map[branchKey]bool{}}
	f.add(base, g)
	return f.all
}

// flattening collects the branches of an anyOf and of those within it, each once.
type flattening struct {
	*lowering
	all  []branch
	seen map[branchKey]bool
}

type branchKey struct {
	target *schema.Node
	kinds  model.Kind
}

func (f *flattening) add(base *shape, g group) {
	for _, n := range g.branches {
		target, _ := f.follow(n)
		key := branchKey{target, base.kinds}
		if f.seen[key] && !g.oneOf {
			continue
		}
		f.seen[key] = true
		own := f.shape(allOf{n})
		if inner := f.nested(n, own, g); inner != nil && !f.active[n] {
			f.active[n] = true
			rest := *own
			rest.groups, rest.annotations = nil, annotations{}
			both := *base
			both.and(&rest)
			f.add(&both, *inner)
			delete(f.active, n)
			continue
		}
		merged := *base
		merged.annotations = annotations{}
		merged.and(own)
		narrowByGroups(&f.reader, &merged)
		merged.narrowByEnum()
		f.all = append(f.all, branch{n, &merged, own})
	}
}

// keepsKinds reports whether the owner allows all kinds of the branch. It may refuse null, which becomes a presence, unless a condition looks at it.
func (b branch) keepsKinds() bool {
	lost := b.own.kinds &^ b.shape.kinds
	onlyNull := lost == model.KindNull && b.own.kinds != model.KindAny && !b.own.nullMayViolate()
	return (lost == 0 || onlyNull) && b.own.integer == b.shape.integer
}

// nested returns the anyOf that a branch of an anyOf consists of.
func (l *lowering) nested(n *schema.Node, own *shape, g group) *group {
	if g.oneOf || len(own.groups) != 1 || own.groups[0].oneOf || !own.hasNoFacets() || own.enum != nil || own.conditions != nil {
		return nil
	}
	return &own.groups[0]
}

// splitNull removes null from the branches: it becomes the value's presence. ok is false where that is not possible.
func (r *reader) splitNull(all []branch, oneOf bool) (_ []branch, ok bool) {
	var rest []branch
	nulls := 0
	for _, b := range all {
		if b.shape.never != nil || b.shape.kinds == 0 {
			continue
		}
		if b.shape.kinds&model.KindNull != 0 {
			nulls++
			if !r.surelyAllowsNull(b.shape) {
				return nil, false // conditions look at null
			}
		}
		if b.shape.kinds != model.KindNull || b.shape.enum != nil && len(b.shape.enum.values) == 0 {
			rest = append(rest, b)
		}
	}
	return rest, !oneOf || nulls < 2
}

// replaceableBy reports whether a Go type made of the branches can replace the Go type of s, which is without them: s limits only kinds, or the
// branches add properties that a Go type of s alone would not have.
func (s *shape) replaceableBy(branches []branch) bool {
	if s.never != nil || s.enum != nil {
		return false
	}
	if s.hasNoFacets() {
		return true
	}
	adds := func(b branch) bool {
		return slices.ContainsFunc(b.own.obj.props, func(p property) bool { return s.obj.prop(p.key) == nil })
	}
	return s.kinds&^model.KindNull == model.KindObject && slices.ContainsFunc(branches, adds)
}

// onlyBranch lowers a group that has one branch besides null.
func (l *lowering) onlyBranch(base *shape, b branch, null bool, p place) model.Value {
	var v model.Value
	if target, ok := l.follow(b.node); ok && base.hasNoFacets() && b.keepsKinds() && p.decl == nil && (null || !l.nullWithin(target)) {
		v = l.ref(target, p)
	} else {
		b.shape.annotations.and(&base.annotations)
		p.node = nil
		v = l.valueOfShape(b.shape, p)
	}
	v.Null = null && v.Type != model.Type(model.Raw{})
	if null && !v.Null && v.Values != nil && !slices.Contains(v.Values.JSON, "null") {
		values := *v.Values
		values.JSON = append(slices.Clip(values.JSON), "null")
		v.Values = &values
	}
	return v
}

// commonEnum merges branches that are constants or enums of strings: a oneOf of titled constants is an enum with
// comments.
func commonEnum(branches []branch, g group) *enumFacet {
	e := &enumFacet{at: g.at, docs: map[string][]string{}}
	for _, b := range branches {
		if b.shape.kinds&^model.KindNull != model.KindString || b.shape.enum == nil || b.shape.str.at != nil || len(b.shape.groups) > 0 || b.shape.conditions != nil {
			return nil
		}
		for _, v := range b.shape.enum.values {
			if v.Kind == schema.Null {
				return nil
			}
			if e.docs[v.Text] != nil {
				return nil
			}
			e.values = append(e.values, v)
			e.docs[v.Text] = slices.Clip(append([]string{}, docLines(nil, &b.shape.annotations)...))
		}
	}
	return e
}
