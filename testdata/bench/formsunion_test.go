package bench

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/mcpkiln/mcpkiln/testdata/bench/kiln"
	"github.com/mcpkiln/mcpkiln/testdata/bench/values"
)

// choices are inputs whose values are of no one type: free objects, and unions by how their forms are told apart. The others decode into
// structs with the members of all forms.
var choices = []struct {
	name  string
	value func(r *rand.Rand) any
	kiln  decoder
	into  func() any
}{
	{"free-object", values.Document, discard(kiln.DecodeKeepDocument), newOf[struct {
		Document map[string]json.RawMessage `json:"document"`
	}]},
	{"union-by-kind", values.Each("values", values.OfKinds), discard(kiln.DecodeByKind), newOf[struct {
		Values []any `json:"values"`
	}]},
	{"union-by-tag", values.Each("shapes", values.Shape), discard(kiln.DecodeByTag), newOf[struct {
		Shapes []struct {
			Kind   string  `json:"kind"`
			Text   string  `json:"text"`
			Radius float64 `json:"radius"`
			Width  float64 `json:"width"`
			Height float64 `json:"height"`
		} `json:"shapes"`
	}]},
	{"union-by-members", values.Each("sources", values.Source), discard(kiln.DecodeByMembers), newOf[struct {
		Sources []struct {
			URL    string `json:"url"`
			Path   string `json:"path"`
			Inline string `json:"inline"`
			Note   string `json:"note"`
		} `json:"sources"`
	}]},
	{"union-by-trial", values.Each("readings", values.Reading), discard(kiln.DecodeByTrial), newOf[struct {
		Readings []struct {
			Sensor string `json:"sensor"`
			Value  any    `json:"value"`
		} `json:"readings"`
	}]},
}

// BenchmarkFormsOfChoices is BenchmarkForms for them. Each seed makes another text, of 0.5 to 3 kB.
func BenchmarkFormsOfChoices(b *testing.B) {
	for _, choice := range choices {
		for _, form := range forms[:3] {
			b.Run(choice.name+"/"+form.name, func(b *testing.B) {
				var texts [seeds][]byte
				for seed := range texts {
					r := rand.New(rand.NewPCG(uint64(seed), 1))
					texts[seed] = form.spell(r, parse(b, []byte(marshal(choice.value(r)))))
				}
				contestForms(b, texts, choice.kiln, choice.into)
			})
		}
	}
}
