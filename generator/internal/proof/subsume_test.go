package proof_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/mcpkiln/mcpkiln/generator/internal/subsume"
	"github.com/mcpkiln/mcpkiln/schema"
)

var pairs = flag.Int("pairs", 100, "how many pairs of random schemas are compared in each draft; with 1000, every pair of keywords, too")

// compared is a schema that is compared with another one.
type compared struct {
	text      []byte
	doc       *schema.Document
	reference *jsonschema.Schema
}

// admitted returns a schema that neither the lint nor the reference refuses.
func admitted(t *testing.T, dialect schema.Dialect, text []byte) *compared {
	t.Helper()
	doc, ds := document(t, parse(t, "schema.json", text), dialect)
	if ds = append(ds, doc.Lint()...); ds.HasErrors() {
		return nil
	}
	ref, err := reference(dialect, text)
	if err != nil {
		return nil
	}
	return &compared{text, doc, ref}
}

func (c *compared) accepts(v *schema.Node) (ok, known bool) {
	err := c.reference.Validate(v.Value())
	_, invalid := err.(*jsonschema.ValidationError)
	return err == nil, err == nil || invalid
}

// TestREV08RandomPairs compares random schemas, and holds the verdicts against the reference validator: what is said to be accepted still is
// not refused, and each example is what it is said to be.
func TestREV08RandomPairs(t *testing.T) {
	t.Parallel()
	total, decided := 0, 0
	relations, reasons := map[string]int{}, map[string]int{}
	var slowest time.Duration
	for _, dialect := range []schema.Dialect{schema.Draft2020, schema.Draft7} {
		for i := range *pairs {
			r := rand.New(rand.NewPCG(*first+uint64(i), uint64(dialect)))
			a := &author{Rand: r, dialect: dialect}
			old, new := admitted(t, dialect, a.document()), admitted(t, dialect, a.document())
			if old == nil || new == nil {
				continue
			}
			began := time.Now()
			v := judged(t, r, old, new)
			if d := time.Since(began); d > slowest {
				slowest = d
			}
			total++
			relations[v.Relation().String()]++
			if v.Relation() != subsume.Undecided {
				decided++
			} else {
				reasons[v.Refused.Why+"|"+v.Accepted.Why]++
			}
		}
	}
	t.Logf("%d of %d pairs are decided: %v %v %v", decided, total, relations, reasons, slowest)
	if decided*10 < total*9 {
		t.Errorf("%d of %d pairs are decided, want 90 %%", decided, total)
	}
}

// judged compares two schemas and tries to refute the verdict.
func judged(t *testing.T, r *rand.Rand, old, new *compared) subsume.Comparison {
	t.Helper()
	v := subsume.Compare(old.doc, new.doc)
	refute(t, r, old, new, v.Refused)
	refute(t, r, new, old, v.Accepted)
	return v
}

// refute holds a difference against values: one that was found has to be one, and where there is none, none may be found.
func refute(t *testing.T, r *rand.Rand, yes, no *compared, d subsume.Difference) {
	t.Helper()
	if d.Value != nil && height(d.Value) > 10 {
		return // the reference looks at each part of a value on every way to it, which are too many
	}
	if d.Value != nil {
		ok, known := yes.accepts(d.Value)
		other, knownToo := no.accepts(d.Value)
		if known && knownToo && (!ok || other) {
			t.Errorf("%s is no difference: %v, %v\n%s\n%s", d.Value.JSON(), ok, other, yes.text, no.text)
		}
		return
	}
	if !d.None() {
		return
	}
	f := &filler{r, yes.doc}
	g := &filler{r, no.doc}
	for range 12 {
		for _, n := range []*schema.Node{f.fill(f.gather(nil, yes.doc.Root, 6), 5), g.fill(g.gather(nil, no.doc.Root, 6), 5)} {
			for range 4 {
				ok, known := yes.accepts(n)
				other, knownToo := no.accepts(n)
				if known && knownToo && ok && !other {
					t.Errorf("%s is a difference, and none was found\n%s\n%s", n.JSON(), yes.text, no.text)
					return
				}
				n = mutant(r, n)
			}
		}
	}
}

// height is how deep a value is nested.
func height(n *schema.Node) (h int) {
	for _, item := range n.Items {
		h = max(h, height(item))
	}
	for _, m := range n.Members {
		h = max(h, height(m.Value))
	}
	return h + 1
}

// TestREV08SingleKeywords changes one keyword of a random schema.
func TestREV08SingleKeywords(t *testing.T) {
	t.Parallel()
	missed, total := map[string]int{}, map[string]int{}
	edits, undecided := 0, 0
	for _, dialect := range []schema.Dialect{schema.Draft2020, schema.Draft7} {
		for i := range *pairs {
			r := rand.New(rand.NewPCG(*first+uint64(i), 100+uint64(dialect)))
			a := &author{Rand: r, dialect: dialect}
			text := a.document()
			edited, keyword := a.edit(text)
			old, new := admitted(t, dialect, text), admitted(t, dialect, edited)
			if old == nil || new == nil {
				continue
			}
			v := judged(t, r, old, new)
			edits++
			total[keyword]++
			if v.Relation() == subsume.Undecided && keyword != "pattern" && keyword != "not" {
				missed[keyword]++
				undecided++
				t.Logf("%s: %s %s\n%s\n%s", keyword, v.Refused.Why, v.Accepted.Why, text, edited)
			}
		}
	}
	t.Logf("%d edits: %v, undecided %v", edits, total, missed)
	if undecided*1000 > edits {
		t.Errorf("%d of %d edits are undecided, want one in 1000 at most", undecided, edits)
	}
}

// edit gives one keyword of a schema another value, adds one, or removes one.
func (a *author) edit(text []byte) ([]byte, string) {
	var root any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&root); err != nil {
		panic(err)
	}
	var places []object
	var walk func(v any)
	walk = func(v any) {
		o, ok := v.(object)
		if !ok {
			if list, ok := v.([]any); ok {
				for _, v := range list {
					walk(v)
				}
			}
			return
		}
		if o["type"] != nil || o["enum"] != nil || o["anyOf"] != nil || o["oneOf"] != nil {
			places = append(places, o)
		}
		for _, key := range slices.Sorted(maps.Keys(o)) {
			if key != "enum" && key != "const" && key != "default" {
				walk(o[key])
			}
		}
	}
	walk(root)
	if len(places) == 0 {
		return text, ""
	}
	place := pick(a.Rand, places...)
	other := a.objectOrTrue(2)
	var keys []string
	for _, key := range append(slices.Sorted(maps.Keys(other)), slices.Sorted(maps.Keys(place))...) {
		if schema.IsKeyword(key) && key[0] != '$' && key != "definitions" && key != "default" && key != "title" && key != "description" {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return text, ""
	}
	key := pick(a.Rand, keys...)
	if other[key] != nil {
		place[key] = other[key]
	} else {
		delete(place, key)
	}
	edited, err := json.Marshal(root)
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return edited, key
}

// TestREV08EveryKeyword replaces each keyword by each other one for values of its kind, and adds it to one that is there. Every such edit is decided.
// Some pairs are drawn; -pairs 1000 takes all.
func TestREV08EveryKeyword(t *testing.T) {
	t.Parallel()
	for _, dialect := range []schema.Dialect{schema.Draft2020, schema.Draft7} {
		total := 0
		r := rand.New(rand.NewPCG(*first, uint64(dialect)))
		for _, a := range statements {
			for _, b := range statements {
				if a.kind != b.kind || r.IntN(1000) >= 2**pairs || !a.knownIn(t, dialect) || !b.knownIn(t, dialect) {
					continue
				}
				alone, both := merging{text: `{"type": "%T", "allOf": [%1]}`}, merging{text: `{"type": ["%T", "null"], "allOf": [%1, %2]}`}
				old := admitted(t, dialect, []byte(alone.of(a, a, dialect)))
				for _, text := range []string{alone.of(b, b, dialect), both.of(a, b, dialect)} {
					if new := admitted(t, dialect, []byte(text)); old != nil && new != nil {
						total++
						everyValue(t, a.kind, old, new)
					}
				}
			}
		}
		t.Logf("%v: %d edits", dialect, total)
	}
}

// everyValue compares two schemas, and holds the verdict against all values of a kind.
func everyValue(t *testing.T, kind string, old, new *compared) {
	t.Helper()
	v := subsume.Compare(old.doc, new.doc)
	if v.Relation() == subsume.Undecided {
		t.Errorf("%s\n%s: %s %s", old.text, new.text, v.Refused.Why, v.Accepted.Why)
	}
	for _, n := range append(parse(t, "values", []byte(valuesOf[kind])).Items, &schema.Node{}) {
		was, _ := old.accepts(n)
		is, _ := new.accepts(n)
		if was && !is && v.Refused.None() || !was && is && v.Accepted.None() {
			t.Errorf("%s\n%s: %v, and %s is a difference", old.text, new.text, v.Relation(), n.JSON())
		}
	}
}
