package check_test

import (
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// long is a member with an array that is remembered, of items with brackets and quotes in their texts.
func long(item string) string { return "[" + strings.Repeat(item+",", 100) + item + "]" }

// What is taken of a text that was found valid is what a decoder takes that has not seen it before (LET01).
func TestLET01WhatIsFoundValidIsReadAsItStands(t *testing.T) {
	rule := check.Object{Names: []string{"a", "b", "c"}, AdditionalProperties: check.Skip}
	take := func(d *check.Decoder, v *[]string) {
		for f := d.Object(&rule); f >= 0; f = d.Next() {
			*v = append(*v, string(d.Alias(nil)))
		}
	}
	each := func(d *check.Decoder) {
		for f := d.Object(&rule); f >= 0; f = d.Next() {
			d.Each(nil, (*check.Decoder).Skip)
		}
	}
	texts := []string{
		`{"a":` + long(`"]},\"\\"`) + `,"b":` + long(`{"x":[1]}`) + `,"c":` + long(`[]`) + `}`,
		`{ "b" : ` + long(` { "a" : [ ] } `) + ` , "x":` + long(`{"a":[1]}`) + `, "a":[] }`,
	}
	for _, text := range texts {
		for name, definition := range map[string]func(*check.Decoder){"skipped": (*check.Decoder).Skip, "read": each} {
			var want, got []string
			if err := check.Decode([]byte(text), check.Limits{}, take, &want); err != nil {
				t.Fatal(err)
			}
			if err := check.DecodeValid([]byte(text), check.Limits{}, definition, take, &got); err != nil {
				t.Fatal(name, err)
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
			broken := strings.Replace(text, "[", "[\xff,", 1)
			if err := check.DecodeValid([]byte(broken), check.Limits{}, definition, take, &got); err == nil {
				t.Errorf("%s: taken with bytes that are no text", name)
			}
		}
	}
}

// Each reading may cost what one may: what is within the limits is not refused because it is looked at twice (VAL07).
func TestVAL07TheLimitsHoldForEachReading(t *testing.T) {
	text := []byte("[" + strings.Repeat("{},", 2000) + "{}]")
	decode := func(d *check.Decoder, v *[]Line) {
		*v = check.List(d, nil, func(d *check.Decoder, _ *Line) { d.Skip() })
	}
	definition := func(d *check.Decoder) { decode(d, new([]Line)) }
	within := func(decoded int) (once, twice bool) {
		lim := check.Limits{Decoded: decoded}
		return check.Decode(text, lim, decode, new([]Line)) == nil, check.DecodeValid(text, lim, definition, decode, new([]Line)) == nil
	}
	refused := false
	for decoded := 1 << 22; decoded > 1<<12 && !refused; decoded -= decoded / 16 {
		once, twice := within(decoded)
		if once != twice {
			t.Errorf("with a limit of %d, read once: %v, twice: %v", decoded, once, twice)
		}
		refused = !once
	}
	if !refused {
		t.Error("no limit is small enough")
	}
}

// BenchmarkDecodeValid is a result of 20 kB that is validated and taken apart.
func BenchmarkDecodeValid(b *testing.B) {
	rule := check.Object{Names: []string{"a"}}
	text := []byte(`{"a":` + long(`"`+strings.Repeat(`some text\n`, 18)+`"`) + `}`)
	take := func(d *check.Decoder, v *[]byte) {
		for f := d.Object(&rule); f >= 0; f = d.Next() {
			*v = d.Alias(nil)
		}
	}
	each := func(d *check.Decoder) {
		for f := d.Object(&rule); f >= 0; f = d.Next() {
			d.Each(nil, (*check.Decoder).Skip)
		}
	}
	var got []byte
	for name, decode := range map[string]func() error{
		"at-once": func() error { return check.DecodeValid(text, check.Limits{}, each, take, &got) },
		"twice": func() error {
			if err := validate(text, check.Limits{}, func(d *check.Decoder, _ *[]byte) { each(d) }); err != nil {
				return err
			}
			return check.DecodeScanned(text, check.Limits{}, take, &got)
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := decode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
