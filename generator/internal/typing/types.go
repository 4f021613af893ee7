package typing

import (
	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/schema"
)

// Root is one schema that needs a Go type of its own.
type Root struct {
	Document   *schema.Document
	Node       *schema.Node // the schema; nil means the document's root
	Name       string       // Go name: GetQuoteInput
	DefsPrefix string       // of the names of types for its own $defs; "" for protocol documents
	Suffix     string       // suffix of those names
	Keep       bool         // it is in a protocol document: additional properties are kept where the schema does not mention them
	Use        model.Use
	Sent       bool     // the package writes its values, and decodes them only to check them
	Hidden     string   // properties whose values no violation shows, as the names that check.Hiding takes
	Doc        []string // first lines of the type's comment; the schema's own description follows
}

// root is what Finish needs of a Root that was lowered.
type root struct {
	decl   *model.Decl
	use    model.Use
	sent   bool
	hidden string
}

// Types is the set of declarations of one generated package. It is not safe for concurrent use.
type Types struct {
	Names *naming.Names // every package-level identifier; package lower takes its own first
	// MaxDecls is the most declarations that one Root leads to.
	MaxDecls int

	chosen            chosen
	decls             []*model.Decl
	claims            map[*model.Decl]*claim
	inProtocol        bool                          // a protocol document is being lowered
	declared          map[*schema.Node]*model.Value // schemas that have a declaration of their own
	checks            map[*schema.Node]*model.Decl  // schemas that have a validator without a type
	conditions        map[condition]*model.Decl     // the validators of conditions
	evaluated         map[string]*model.Decl        // functions that record the properties and items that schemas mention, by evaluating.key
	scopes            scopes
	lowered           map[string]*loweredAllOf   // results for conjunctions, by lowering.key
	validators        map[string]*model.Decl     // the same for conjunctions that are only validated
	ids               map[*schema.Node]int       // numbers of schemas, see id
	inProgress        map[string]string          // conjunctions that are being lowered, with the name that a declaration would have
	elements          map[model.Type]*model.Decl // elements without rules: decodeString
	roots             []root
	findings          schema.Diagnostics
	keepingAdditional []*model.Decl // types whose additional properties a check may look at, with everything in them

	defaults  map[*model.Prop]*schema.Node // defaults, to be written once every type is known
	defaulted []*model.Prop                // the properties that have one, in order
	described map[*model.Prop]allOf        // the schemas of the properties in protocol documents

	GoTypes map[string]string // Go types that the manifest chooses for formats, integers and numbers
}

// NewTypes returns an empty set.
func NewTypes() *Types {
	t := &Types{
		Names:      &naming.Names{},
		MaxDecls:   maxDecls,
		claims:     map[*model.Decl]*claim{},
		chosen:     chosen{docs: map[*schema.Document]bool{}, at: map[string]*schema.Node{}, used: map[*schema.Node]bool{}},
		declared:   map[*schema.Node]*model.Value{},
		checks:     map[*schema.Node]*model.Decl{},
		conditions: map[condition]*model.Decl{},
		evaluated:  map[string]*model.Decl{},
		lowered:    map[string]*loweredAllOf{},
		validators: map[string]*model.Decl{},
		inProgress: map[string]string{},
		ids:        map[*schema.Node]int{},
		elements:   map[model.Type]*model.Decl{},
		defaults:   map[*model.Prop]*schema.Node{},
		described:  map[*model.Prop]allOf{},
	}
	t.scopes = scopes{types: t, ambiguous: map[*schema.Document]map[string]bool{}, copies: map[string]*scoped{}, of: map[*schema.Node]origin{}}
	return t
}

// Lower registers the types of a schema and returns the root's. The same node twice, or a $ref to it, is the same
// type. Finish returns the findings; the TypeRef is usable even if there are any.
func (t *Types) Lower(r Root) model.TypeRef {
	n := r.Node
	if n == nil {
		n = r.Document.Root
	}
	l := t.begin(r)
	l.root = l.enter(n)
	d := l.lowerRoot(l.root, r)
	t.claims[d].apart = true
	t.name(d) // before other types
	t.roots = append(t.roots, root{d, r.Use, r.Sent, r.Hidden})
	return model.TypeRef{Name: d.Name, Decode: d.Decode, Append: d.Append, Decl: d}
}

// Check registers a validator of r.Node, a definition of a protocol document. Finish gives it its name.
func (t *Types) Check(r Root) *model.Decl {
	l := t.begin(r)
	d := l.checkNode(r.Node, l.refName(r.Node))
	t.roots = append(t.roots, root{decl: d, use: model.Decode})
	return d
}

// SchemasOf returns the schemas that describe a property of a protocol document's type. Package wire asks which revisions have the property.
func (t *Types) SchemasOf(p *model.Prop) []*schema.Node { return t.described[p] }

// begin returns the state for lowering r.
func (t *Types) begin(r Root) *lowering {
	l := &lowering{
		Types: t, declsBefore: len(t.decls), defsPrefix: r.DefsPrefix, suffix: r.Suffix, name: r.Name,
		reader: reader{doc: r.Document, protocol: r.Keep, keywords: keywordTable, report: &t.findings, scopes: &t.scopes, active: map[*schema.Node]bool{},
			narrowing: map[*schema.Node]bool{}, shapes: map[*schema.Node]*shape{}, owns: map[*schema.Node]*shape{}, nulls: map[*shape]bool{}},
	}
	t.inProtocol = r.Keep
	t.Choose(r.Document)
	return l
}

// Finish decides what depends on all types, and returns the declarations in the order in which they were made.
func (t *Types) Finish() ([]*model.Decl, schema.Diagnostics) {
	for _, d := range t.decls {
		t.keepingAdditional = append(t.keepingAdditional, triedMembers(d)...)
	}
	keepAdditional(t.keepingAdditional)
	t.leaveDefaultsOut()
	for _, d := range t.decls {
		setStorage(d)
	}
	breakCycles(t.decls)
	t.share()
	t.nameAll()
	for _, p := range t.defaulted {
		t.writeDefault(p)
	}
	for _, d := range t.decls {
		if d.Same == nil {
			t.nameRules(d)
		}
	}
	for _, r := range t.roots {
		use(r.decl, r.use)
	}
	t.cacheOutcomes()
	t.warnOfUnused()
	t.setMarshalers()
	t.hide()
	t.findings.Sort()
	return t.decls, t.findings
}

// lowering is the state of lowering one root.
type lowering struct {
	*Types
	reader
	root       *schema.Node
	defsPrefix string
	suffix     string
	name       string // of the root's type
	// declsBefore is the number of declarations before those of the root.
	declsBefore int
	tooLarge    bool // the root leads to more than MaxDecls, which is reported; what is lowered from then on gets no type
}

// place is where a value is, with what is decided there for its type.
type place struct {
	hint           string       // Go name of a type that has to be declared for it
	item           string       // the same for its items or map values; empty: derived from hint
	node           *schema.Node // the schema whose location the runtime derives from the parent's; nil if it can not
	decl           *model.Decl  // declaration to fill instead of a new one
	doc            []string     // first lines of that type's comment
	validateOnly   bool         // values are validated and not stored
	needsOwnType   bool         // the value must have a type of its own: an object becomes a struct even if a map would do, and a $ref does not get its target's type
	conjunction    string       // lowering.key of the allOf that is lowered here; empty for roots, $ref targets and members of unions
	namedBy        *schema.Node // the schema whose goType names the type, if one does
	keepAdditional bool         // additional properties are kept: a check of the whole value may look at them
}

// below returns a place within the value at p.
func (p place) below(hint string) place {
	return place{hint: hint, validateOnly: p.validateOnly, keepAdditional: p.keepAdditional}
}

// lowerRoot returns the declaration of a root, which always has a type of its own.
func (l *lowering) lowerRoot(n *schema.Node, r Root) *model.Decl {
	target, _ := l.follow(n)
	if target != n && !within(target, l.root) {
		if v := l.named(target); v != nil && !v.Null && v.Checks == nil {
			return v.Type.(model.Named).Decl
		}
	}
	if v, ok := l.declared[n]; ok {
		if named, ok := v.Type.(model.Named); ok {
			return named.Decl
		}
	}
	d := l.newDecl(r.Name, n)
	l.claims[d].rank, l.claims[d].other = rooted, r.Name+"Value"
	l.declared[n] = &model.Value{Type: model.Named{Decl: d}}
	l.fill(d, l.shape(allOf{n}), place{hint: d.Name, doc: r.Doc, needsOwnType: true})
	if _, ok := d.Body.(*model.Enum); ok {
		l.declared[n].Checks = copyChecks(d.Checks) // for references to it
	}
	return d
}

// fill lowers s into d. If s allows null, d is defined over the type of the other values.
func (l *lowering) fill(d *model.Decl, s *shape, p place) {
	p.decl = d
	if s.kinds&model.KindNull != 0 && worthAName(s) {
		p.decl, p.hint = nil, d.Name+"Value"
	}
	v := l.valueOfShape(s, p)
	if named, ok := v.Type.(model.Named); ok && named.Decl == d {
		d.Checks = append(d.Checks, v.Checks...)
		return
	}
	d.Doc = docLines(p.doc, &s.annotations)
	d.Body = &model.Defined{Value: v}
}
