package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/bytedance/sonic"
	gojson "github.com/go-json-experiment/json"
	goccy "github.com/goccy/go-json"
	segmentio "github.com/segmentio/encoding/json"
)

// seeds are how many spellings of an input each form is measured on, so that nothing is tuned to one text.
const seeds = 3

// forms are the ways in which clients spell the same input.
var forms = []struct {
	name  string
	spell func(r *rand.Rand, n *node) []byte
}{
	{"compact", func(_ *rand.Rand, n *node) []byte { return n.append(nil, ",", ":", "") }},
	{"json.dumps", func(_ *rand.Rand, n *node) []byte { return n.append(nil, ", ", ": ", "") }},
	{"pretty", func(_ *rand.Rand, n *node) []byte { return n.append(nil, ",", ": ", "\n") }},
	{"reversed", func(_ *rand.Rand, n *node) []byte { return n.reverse().append(nil, ",", ":", "") }},
	{"escaped", func(r *rand.Rand, n *node) []byte { return n.write(r, source).append(nil, ",", ":", "") }},
	{"non-ascii", func(r *rand.Rand, n *node) []byte { return n.write(r, cyrillic).append(nil, ",", ":", "") }},
	{"long-floats", func(r *rand.Rand, n *node) []byte { return n.lengthen(r).append(nil, ",", ":", "") }},
}

// BenchmarkForms decodes and validates each form of the inputs. The others decode without validating.
func BenchmarkForms(b *testing.B) {
	for _, row := range rows()[:3] {
		for _, form := range forms {
			b.Run(row.name+"/"+form.name, func(b *testing.B) {
				var texts [seeds][]byte
				for seed := range texts {
					texts[seed] = form.spell(rand.New(rand.NewPCG(uint64(seed), 0)), parse(b, row.data))
				}
				contestForms(b, texts, row.kiln, row.into)
			})
		}
	}
}

// contestForms decodes the texts by turns. Only the others are given a value to decode into: mcpkiln makes its own.
func contestForms(b *testing.B, texts [seeds][]byte, kiln decoder, into func() any) {
	byTurns := func(name string, decode decoder) {
		turn := 0
		contest(b, name, texts[0], func([]byte) error {
			turn++
			return decode(texts[turn%seeds])
		})
	}
	byTurns("mcpkiln", kiln)
	for _, peer := range []struct {
		name   string
		decode func([]byte, any) error
	}{
		{"goccy", goccy.Unmarshal}, {"sonic", sonic.Unmarshal},
		{"segmentio", func(data []byte, v any) error { return segmentio.Unmarshal(data, v) }},
		{"json-v2", func(data []byte, v any) error { return gojson.Unmarshal(data, v) }}, {"encoding-json", json.Unmarshal},
	} {
		byTurns(peer.name, func(data []byte) error { return peer.decode(data, into()) })
	}
}

// node is a value whose members keep their order.
type node struct {
	text    string // of a scalar, as it is written
	keys    []string
	items   []*node
	bracket byte
}

func parse(b *testing.B, data []byte) *node {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	n, err := read(dec)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

func read(dec *json.Decoder) (*node, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	bracket, ok := token.(json.Delim)
	if !ok {
		text, err := json.Marshal(token)
		return &node{text: string(text)}, err
	}
	n := &node{bracket: byte(bracket)}
	for dec.More() {
		if bracket == '{' {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			n.keys = append(n.keys, key.(string))
		}
		item, err := read(dec)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, item)
	}
	_, err = dec.Token()
	return n, err
}

// append writes the value; with line breaks, each level is indented by two spaces.
func (n *node) append(b []byte, comma, colon, line string) []byte {
	if n.bracket == 0 {
		return append(b, n.text...)
	}
	inner := line
	if line != "" {
		inner += "  "
	}
	b = append(b, n.bracket)
	for i, item := range n.items {
		if i > 0 {
			b = append(b, comma...)
		}
		b = append(b, inner...)
		if n.keys != nil {
			b = append(strconv.AppendQuote(b, n.keys[i]), colon...)
		}
		b = item.append(b, comma, colon, inner)
	}
	return append(append(b, line...), n.bracket+2)
}

// each calls f for every scalar.
func (n *node) each(key string, f func(key string, n *node)) *node {
	if n.bracket == 0 {
		f(key, n)
	}
	for i, item := range n.items {
		if n.keys != nil {
			key = n.keys[i]
		}
		item.each(key, f)
	}
	return n
}

func (n *node) reverse() *node {
	if n.keys != nil {
		slices.Reverse(n.keys)
		slices.Reverse(n.items)
	}
	for _, item := range n.items {
		item.reverse()
	}
	return n
}

// Texts that nothing but their length is asked of, by key.
var free = map[string]int{"note": 70, "name": 40, "remark": 400}

var (
	source   = []string{"\tif err != nil {\n", "\t\treturn fmt.Errorf(\"%w\", err)\n", "\t}\n", "path := \"C:\\\\temp\"\n", "for i := range n {\n"}
	cyrillic = []string{"Заказ ", "принят ", "и будет ", "доставлен ", "завтра ", "утром, ", "注文は", "明日", "届きます"}
)

// write fills free texts with words.
func (n *node) write(r *rand.Rand, words []string) *node {
	return n.each("", func(key string, n *node) {
		most, ok := free[key]
		if !ok || n.text[0] != '"' {
			return
		}
		var text []rune
		for {
			word := []rune(words[r.IntN(len(words))])
			if len(text)+len(word) > most {
				break
			}
			text = append(text, word...)
		}
		written, _ := json.Marshal(string(text))
		n.text = string(written)
	})
}

// lengthen gives prices, limits and scores as many digits as a program writes.
func (n *node) lengthen(r *rand.Rand) *node {
	return n.each("", func(key string, n *node) {
		switch key {
		case "price", "limit", "score":
			n.text = fmt.Sprint(r.Float64() * 100)
		}
	})
}
