package check_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// readings decodes a union whose forms differ by the kind of a member, and counts how often a form is read.
type readings struct {
	union check.Union
	reads int
}

var (
	reading        = check.Object{Names: []string{"sensor", "value"}, Required: []string{"value"}}
	readingSensors = [3]check.String{{Max: 3}, {}, {Max: 5}}
)

func newReadings(keyword, kindKey string) *readings {
	return &readings{union: check.Union{At: "#/" + keyword, Keyword: keyword, One: keyword == "oneOf", KindKey: kindKey, Forms: []check.Form{
		{Kinds: check.KindObject, KeyKinds: check.KindNumber}, {Kinds: check.KindObject, KeyKinds: check.KindString | check.KindNull}, {Kinds: check.KindObject, KeyKinds: check.KindString},
	}}}
}

func (r *readings) decode(d *check.Decoder, v *string) {
	*v = check.Pick(d, &r.union, func(d *check.Decoder, form int) string {
		r.reads++
		got := fmt.Sprint(form)
		for f := d.Object(&reading); f >= 0; f = d.Next() {
			switch {
			case f == 0:
				got += d.String(&readingSensors[form])
			case form == 0:
				got += fmt.Sprint(d.Float(nil))
			case form == 1 && d.Null():
				got += "null"
			default:
				got += d.String(nil)
			}
		}
		return got
	})
}

// TestVAL10VAL11AKindKeySparesReadings: the kind of a member decides which forms are read, and nothing else: what is chosen, and what is reported, is the
// same without it.
func TestVAL10VAL11AKindKeySparesReadings(t *testing.T) {
	tests := []struct {
		text       string
		anyOf, one int // how often a form is read; 0: it is not compared
	}{
		{`{"value":1}`, 1, 1}, {`{"sensor":"abc","value":1}`, 1, 1}, {`{"sensor":"abc","value":null}`, 1, 1}, {` { "sensor" : "abc" , "value" : 1 } `, 1, 1},
		{`{"sensor":"abc","value":"x"}`, 1, 3}, {`{"sensor":"a longer one","value":"x"}`, 1, 3}, {`{"value":1,"value":"x"}`, 1, 1}, {`{"\u0076alue":1}`, 1, 3},
		{`{"sensor":"a longer one","value":1}`, 0, 0}, {`{"sensor":"abc"}`, 0, 0}, {`{"sensor":"abc","value":true}`, 0, 0}, {`{"sensor":[[1]],"value":1}`, 0, 0},
		{`{"sensor":"abc","value":1`, 0, 0}, {`{"sensor":"abc","value":`, 0, 0}, {`{"sensor":"abc" "value":1}`, 0, 0}, {`{}`, 0, 0}, {`{"value":1e999}`, 0, 0}, {`[]`, 0, 0},
	}
	for _, test := range tests {
		for keyword, reads := range map[string]int{"anyOf": test.anyOf, "oneOf": test.one} {
			if got := sameWithoutKindKey(t, keyword, test.text); reads > 0 && got != reads {
				t.Errorf("%s of %s: a form was read %d times, want %d", keyword, test.text, got, reads)
			}
		}
	}
}

// FuzzVAL10VAL11AKindKeyChangesNothing is the same for any text.
func FuzzVAL10VAL11AKindKeyChangesNothing(f *testing.F) {
	f.Add(`[{"value":1}, { "sensor":"abc", "value":"x" },{"sensor":"too long","value":null}]`)
	f.Add(`{"sensor":"12345678","value":1e400}`)
	f.Fuzz(func(t *testing.T, text string) {
		sameWithoutKindKey(t, "anyOf", text)
		sameWithoutKindKey(t, "oneOf", text)
	})
}

// sameWithoutKindKey reads a text, and a list of it, twice, so that the second time it is known what objects begin with. It returns how often a form was
// read the second time.
func sameWithoutKindKey(t *testing.T, keyword, text string) (reads int) {
	t.Helper()
	with, without := newReadings(keyword, "value"), newReadings(keyword, "")
	for _, text := range []string{"[" + text + "," + text + "]", "[" + text + "]"} {
		var got, want []string
		with.reads = 0
		err := check.Decode([]byte(text), check.Limits{}, func(d *check.Decoder, v *[]string) { *v = check.List(d, nil, with.decode) }, &got)
		plain := check.Decode([]byte(text), check.Limits{}, func(d *check.Decoder, v *[]string) { *v = check.List(d, nil, without.decode) }, &want)
		if fmt.Sprint(err) != fmt.Sprint(plain) || err == nil && !slices.Equal(got, want) {
			t.Errorf("%s of %s: %q, %v; without the KindKey %q, %v", keyword, text, got, err, want, plain)
		}
	}
	return with.reads
}
