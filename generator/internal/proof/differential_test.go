package proof_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/mcpkiln/mcpkiln/generator/internal/proof"
	"github.com/mcpkiln/mcpkiln/schema"
)

var (
	seeds = flag.Int("seeds", 1, "how many batches of random schemas are held against the reference validator")
	first = flag.Uint64("first", 1, "seed of the first batch")
)

const (
	schemasOfBatch    = 200
	instancesOfSchema = 40
	// mostRefused is how many schemas of a batch may be refused by the lint or by lowering, so that the batch is not made
	// of what happens to be easy.
	mostRefused = schemasOfBatch
)

// TestVAL05GeneratedCodeAgreesWithTheReference holds random schemas and instances against jsonschema/v5, batch by batch:
// the same verdict, and what is valid survives the round trip. With -seeds N it goes on for as long as is wanted.
//
// What generated code refuses on purpose (VAL07) is not among the instances: repeated keys, lone surrogates, nesting of
// hundreds of levels, numbers of a thousand digits. Formats are asserted on both sides.
func TestVAL05GeneratedCodeAgreesWithTheReference(t *testing.T) {
	for i := range uint64(*seeds) {
		seed := *first + i
		dialect := []schema.Dialect{schema.Draft2020, schema.Draft2020, schema.Draft7}[seed%3]
		t.Run(fmt.Sprintf("seed %d %s", seed, dialect), func(t *testing.T) {
			e := &experiment{dialect: dialect}
			e.write(t, rand.New(rand.NewPCG(seed, 2020)))
			e.run(t)
		})
		if t.Failed() {
			break // one batch of findings is enough to mend
		}
	}
}

// experiment is a batch of schemas with their instances.
type experiment struct {
	dialect   schema.Dialect
	batch     proof.Batch
	questions []proof.Question
	of        []*specimen // of questions, by index
	instances []*schema.Node
	shrunk    int
}

// specimen is a schema and its reference validator.
type specimen struct {
	doc       *schema.Document
	node      *schema.Node // a definition of doc; nil: its root
	reference *jsonschema.Schema
	number    int
	keep      bool
	fills     bool // decoding sets defaults
}

// write fills the experiment with random schemas and instances.
func (e *experiment) write(t *testing.T, r *rand.Rand) {
	a := &author{Rand: r, dialect: e.dialect}
	refused := map[string]int{}
	total := 0
	for e.batch.Len() < schemasOfBatch {
		s, why := e.admit(t, a.document(), e.batch.Len()%4 != 0)
		if s == nil {
			refused[why]++
			if total++; total > mostRefused {
				t.Fatalf("%d schemas are refused beside %d that are not: %v", total, e.batch.Len(), refused)
			}
			continue
		}
		e.vary(r, s, instancesOfSchema)
	}
	t.Logf("%d schemas, %d others refused: %v", e.batch.Len(), total, refused)
}

// vary adds instances made from the schema, each with three mutants of it.
func (e *experiment) vary(r *rand.Rand, s *specimen, instances int) {
	f := &filler{r, s.doc}
	from := s.doc.Root
	if s.node != nil {
		from = s.node
	}
	for i := 0; i < instances; i += 4 {
		n := f.fill(f.gather(nil, from, 6), 5)
		e.put(s, n)
		for range 3 {
			e.put(s, mutant(r, n))
		}
	}
}

var byteFormat = regexp.MustCompile(`"format":\s*"byte"`)

// admit adds a schema that neither validator refuses, or returns which does.
func (e *experiment) admit(t testing.TB, text []byte, keep bool) (*specimen, string) {
	t.Helper()
	doc, ds := document(t, parse(t, fileOf(&e.batch), text), e.dialect)
	if ds = append(ds, doc.Lint()...); ds.HasErrors() {
		return nil, "lint: " + code(ds)
	}
	asserted := text
	if !keep { // base64 is asserted in the protocol's documents alone
		asserted = byteFormat.ReplaceAll(text, []byte(`"format": "binary"`))
	}
	ref, err := reference(e.dialect, asserted)
	if err != nil {
		return nil, "reference"
	}
	role := e.batch.Len() % 3
	number, ds, err := e.batch.Add(proof.Schema{Document: doc, Keep: keep, Sent: role > 0, Both: role > 1})
	if err != nil {
		t.Errorf("%v\nschema %s", err, text)
		return nil, "panic"
	}
	if ds.HasErrors() {
		return nil, "lower: " + code(ds)
	}
	s := &specimen{doc: doc, reference: ref, number: number, keep: keep, fills: role != 1 && hasDefaults(doc)}
	return s, ""
}

func code(ds schema.Diagnostics) string {
	for _, d := range ds {
		if d.Severity == schema.Error {
			return d.Code
		}
	}
	return ""
}

// put adds an instance; one in four with white space in it.
func (e *experiment) put(s *specimen, instance *schema.Node) {
	text := instance.JSON()
	if len(e.questions)%4 == 3 {
		var b bytes.Buffer
		json.Indent(&b, text, "", "\t")
		text = bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte("\r ")) // questions are lines
	}
	e.questions = append(e.questions, proof.Question{Schema: s.number, Instance: text})
	e.of, e.instances = append(e.of, s), append(e.instances, instance)
}

// run compiles, asks, and reports the first disagreement about each schema, made small.
func (e *experiment) run(t *testing.T) {
	answers := ask(t, build(t, &e.batch), e.questions)
	valid := 0
	found := map[*specimen]bool{}
	for i, s := range e.of {
		if answers[i].Valid() {
			valid++
		}
		if found[s] || answers[i].Dropped {
			continue
		}
		if what := compare(s, e.instances[i], answers[i]); what != "" {
			found[s] = true
			if s.node != nil {
				t.Error(finding(s.node, e.instances[i], s.keep, what))
				continue
			}
			e.shrink(t, s.doc.Root, e.instances[i], s.keep, what)
		}
	}
	t.Logf("%d instances, %d of them valid", len(answers), valid)
	if valid*10 < len(answers) || valid*10 > 9*len(answers) {
		t.Errorf("%d of %d instances are valid: that says too little about the others", valid, len(answers))
	}
}

// compare returns what is wrong with an answer, or "".
func compare(s *specimen, instance *schema.Node, a proof.Answer) string {
	want := s.reference.Validate(instance.Value())
	var invalid *jsonschema.ValidationError
	switch {
	case want != nil && !errors.As(want, &invalid):
		return "" // the reference gives up, as on a pattern that takes too long
	case want == nil && beyondGo(a):
		return ""
	case want == nil != a.Valid():
		return fmt.Sprintf("reference: %v\ngenerated: %s", want, verdict(a))
	case !a.Valid():
		return ""
	case jsonFault(s, a) != "":
		return a.JSON
	case s.fills:
		return filled(s, instance, a.Out)
	case a.Unstable != "" && !exact(instance):
		return "" // what float64 makes of a number may be on the other side of a bound
	case a.Unstable != "":
		return "out " + a.Out + "\n" + a.Unstable
	}
	out, ds := schema.ParseJSON("out", []byte(a.Out))
	if ds.HasErrors() {
		return "out is not JSON: " + a.Out
	}
	if !s.keep {
		if err := s.reference.Validate(out.Value()); err != nil {
			return fmt.Sprintf("out %s\nreference: %v", a.Out, err)
		}
		return ""
	}
	if !alike(instance, out) {
		return "out " + a.Out + " is another value"
	}
	return ""
}

// beyondGo reports whether an instance is refused for nothing but values that the Go type of their schema can not hold:
// integers beyond int64, other numbers beyond float64 (VAL07), durations with years and months.
func beyondGo(a proof.Answer) bool {
	limits := []string{"an integer between -9223372036854775808 and", "a number between -1.7976931348623157e308 and", "a duration without years and months"}
	for line := range strings.Lines(a.Invalid) {
		if !slices.ContainsFunc(limits, func(limit string) bool { return strings.Contains(line, "allowed: "+limit) }) {
			return false
		}
	}
	return a.Invalid != ""
}

// exact reports whether float64 holds every number of an instance.
func exact(n *schema.Node) bool {
	all := true
	n.Walk(func(n *schema.Node) bool {
		if n.Kind == schema.Number {
			f, _ := strconv.ParseFloat(n.Text, 64)
			all = all && schema.Equal(n, number(strconv.FormatFloat(f, 'g', -1, 64)))
		}
		return true
	})
	return all
}

// alike reports whether two values are the same but for the precision that float64 does not have.
func alike(a, b *schema.Node) bool {
	if schema.Equal(a, b) {
		return true
	}
	return len(a.Members) == len(b.Members) && within(a, b, alike)
}

// within reports whether b has all that a has, as same decides.
func within(a, b *schema.Node, same func(a, b *schema.Node) bool) bool {
	if a.Kind != b.Kind || len(a.Items) != len(b.Items) {
		return false
	}
	switch a.Kind {
	case schema.Number:
		return sameFloat(a.Text, b.Text)
	case schema.Array:
		for i := range a.Items {
			if !same(a.Items[i], b.Items[i]) {
				return false
			}
		}
		return true
	case schema.Object:
		for i := range a.Members {
			other := b.Get(a.Members[i].Key)
			if other == nil || !same(a.Members[i].Value, other) {
				return false
			}
		}
		return true
	}
	return false
}

// finding is one disagreement as it is reported, ready to become an archive in testdata/findings.
func finding(doc, instance *schema.Node, keep bool, what string) string {
	return strings.TrimSpace(fmt.Sprintf("schema   %s\ninstance %s\nkeep %t\n%s", doc.JSON(), instance.JSON(), keep, what))
}
