package emit_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

var seed = flag.Uint64("seed", 5, "of the random schemas and instances")

// TestVAL05AgreesWithReference compares generated code with the reference validator on what it was made for and on
// random instances, for the schemas of the goldens and for random ones.
func TestVAL05AgreesWithReference(t *testing.T) {
	schemas := goldenSchemas(t)
	rng := rand.New(rand.NewPCG(*seed, 2020))
	for range 40 {
		schemas = append(schemas, randomSchema(rng))
	}
	p := build(t, schemas)
	valid, invalid := 0, 0
	for i, text := range schemas {
		ref := reference(t, text)
		for range 150 {
			ok, agreed := agree(t, p, ref, i, text, randomInstance(rng, text))
			if ok {
				valid++
			} else {
				invalid++
			}
			if !agreed {
				break // one finding for each schema
			}
		}
	}
	t.Logf("%d schemas, %d valid and %d invalid instances", len(schemas), valid, invalid)
	if valid < 1000 || invalid < 1000 {
		t.Errorf("%d valid and %d invalid instances say too little", valid, invalid)
	}
}

// FuzzVAL05AgreesWithReference goes on where the test ends: each input is the seed of instances for every schema.
func FuzzVAL05AgreesWithReference(f *testing.F) {
	schemas := goldenSchemas(f)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 40 {
		schemas = append(schemas, randomSchema(rng))
	}
	p := build(f, schemas)
	var refs []*jsonschema.Schema
	for _, text := range schemas {
		refs = append(refs, reference(f, text))
	}
	f.Add(uint64(1), uint16(0))
	f.Fuzz(func(t *testing.T, seed uint64, index uint16) {
		i := int(index) % len(schemas)
		agree(t, p, refs[i], i, schemas[i], randomInstance(rand.New(rand.NewPCG(seed, 7)), schemas[i]))
	})
}

// agree compares both on one instance and reports whether it is valid. The encoded form of a valid one must be valid
// too, and decode and encode to itself.
func agree(t *testing.T, p *program, ref *jsonschema.Schema, i int, text string, instance []byte) (valid, agreed bool) {
	t.Helper()
	agreed = true
	want := ref.Validate(decoded(t, instance))
	got := p.ask(t, i, instance)
	if (want == nil) != (got.Error == "") {
		t.Errorf("schema %s\ninstance %s\nreference: %v\ngenerated: %s", text, instance, want, got.Error)
		return want == nil, false
	}
	if want != nil {
		return false, true
	}
	if got.Stable != "" {
		t.Errorf("schema %s\ninstance %s\nencoded %s\nthen %s", text, instance, got.Out, got.Stable)
		return true, false
	}
	if err := ref.Validate(decoded(t, got.Out)); err != nil {
		t.Errorf("schema %s\ninstance %s\nencoded %s\nreference: %v", text, instance, got.Out, err)
		return true, false
	}
	return true, true
}

func decoded(t testing.TB, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}

// reference compiles a schema with the validator that is held to be right.
func reference(t testing.TB, text string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	if err := c.AddResource("mem:///schema.json", strings.NewReader(text)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	s, err := c.Compile("mem:///schema.json")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// goldenSchemas leaves out what is for the official suite to judge: formats, of which the reference has its own idea, and
// the meta-schema, which it has to be handed.
func goldenSchemas(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, path := range archives(t, "golden") {
		if a := parse(t, path); !keeps(a) && name(path) != "formats" && name(path) != "metaschema" && !strings.Contains(string(a.Comment), "(draft-07)") {
			all = append(all, string(a.Files[0].Data))
		}
	}
	return all
}
