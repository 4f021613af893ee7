package check_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// filter is a union of closed objects that hold filters, and of one that does not.
type filter struct {
	all, any []filter
	not      *filter
	field    string
	op       string
}

var (
	filterUnion = check.Union{At: "#", Keyword: "anyOf", Forms: []check.Form{{Kinds: check.KindObject}, {Kinds: check.KindObject}, {Kinds: check.KindObject}, {Kinds: check.KindObject}}}
	filterAll   = check.Object{At: "#/anyOf/0", Names: []string{"and"}, AdditionalProperties: check.Refuse}
	filterAny   = check.Object{At: "#/anyOf/1", Names: []string{"or"}, AdditionalProperties: check.Refuse}
	filterNot   = check.Object{At: "#/anyOf/2", Names: []string{"not"}, AdditionalProperties: check.Refuse}
	filterField = check.Object{At: "#/anyOf/3", Names: []string{"field", "op"}, AdditionalProperties: check.Refuse}
	filterOp    = check.Enum{Values: []string{"eq", "lt"}}
)

func decodeFilter(d *check.Decoder, v *filter) {
	*v = check.Pick(d, &filterUnion, func(d *check.Decoder, form int) (v filter) {
		rule := []*check.Object{&filterAll, &filterAny, &filterNot, &filterField}[form]
		for f := d.Object(rule); f >= 0; f = d.Next() {
			switch {
			case form == 0:
				v.all = check.List(d, nil, decodeFilter)
			case form == 1:
				v.any = check.List(d, nil, decodeFilter)
			case form == 2:
				v.not = check.New(d, decodeFilter)
			case f == 0:
				v.field = d.String(nil)
			default:
				v.op = d.Enum(&filterOp)
			}
		}
		return v
	})
}

// chain has forms that share the member they need.
type chain struct {
	next   *chain
	number int64
}

var (
	chainUnion = check.Union{At: "#", Keyword: "oneOf", One: true, Members: check.Object{Names: []string{"l"}, AdditionalProperties: check.Skip},
		Forms: []check.Form{{Kinds: check.KindObject, Needs: 1}, {Kinds: check.KindObject, Needs: 1}, {Kinds: check.KindInteger}}}
	chainX      = check.Object{At: "#/oneOf/0", Names: []string{"l", "x"}, Required: []string{"l"}, AdditionalProperties: check.Refuse}
	chainY      = check.Object{At: "#/oneOf/1", Names: []string{"l", "y"}, Required: []string{"l", "y"}, AdditionalProperties: check.Refuse}
	chainNumber = check.Int{At: "#/oneOf/2", Has: check.Minimum, Min: 1}
)

func decodeChain(d *check.Decoder, v *chain) {
	*v = check.Pick(d, &chainUnion, func(d *check.Decoder, form int) (v chain) {
		if form == 2 {
			v.number = d.Int(&chainNumber)
			return v
		}
		for f := d.Object([]*check.Object{&chainX, &chainY}[form]); f >= 0; f = d.Next() {
			if f == 0 {
				v.next = check.New(d, decodeChain)
			} else {
				v.number = d.Int(nil)
			}
		}
		return v
	})
}

// However deep unions are within one another, the innermost fault is named, and the list is as long as any.
func TestVAL02VAL10TheFaultOfARecursiveUnionIsNamedAtAnyDepth(t *testing.T) {
	for _, depth := range []int{0, 1, 2, 3, 6, 20, 40, 250} {
		for _, row := range []struct {
			name, open, shut, leaf string
			path, fault            string
			decode                 func(text []byte) error
		}{
			{"filter", `{"and":[`, `]}`, `{"field":"a","op":"gt"}`, "/and/0", `/op: enum: found "gt", allowed: one of "eq", "lt"`,
				func(b []byte) error { return validate(b, check.Limits{}, decodeFilter) }},
			{"filter with more", `{"and":[{"field":"b","op":"eq"},`, `]}`, `{"field":"a","op":"gt"}`, "/and/1", `/op: enum: found "gt", allowed: one of "eq", "lt"`,
				func(b []byte) error { return validate(b, check.Limits{}, decodeFilter) }},
			{"chain", `{"l":`, `}`, `0`, "/l", `: minimum: found 0, allowed: at least 1`,
				func(b []byte) error { return validate(b, check.Limits{}, decodeChain) }},
		} {
			err := row.decode([]byte(strings.Repeat(row.open, depth) + row.leaf + strings.Repeat(row.shut, depth)))
			var wrong check.Violations
			if !errors.As(err, &wrong) {
				t.Fatalf("%s, depth %d: %v", row.name, depth, err)
			}
			path := strings.Repeat(row.path, depth)
			fault := false
			for _, v := range wrong {
				fault = fault || strings.HasPrefix(v.Instance, path) && strings.HasSuffix(v.Error(), row.fault)
			}
			if !fault || len(wrong) > 32+1 {
				t.Errorf("%s, depth %d: %d violations, and the fault is not named:\n%v", row.name, depth, len(wrong), err)
			}
		}
	}
}

// What is left out of the violations of a union is said, as elsewhere.
func TestVAL02WhatIsLeftOutOfAUnionIsSaid(t *testing.T) {
	for text, want := range map[string]string{
		`{"field":1,"op":"gt"}`:                           "",
		`{"field":1,"op":"gt","x":1,"y":2}`:               "2 further violations",
		`{"not":{"field":1,"op":"gt","x":1,"y":2}}`:       "2 further violations",
		`{"not":{"field":1,"op":"gt","x":1,"y":2},"z":3}`: "3 further violations",
	} {
		_, got := lines(t, decodeFilter, text)
		if said := strings.Contains(got, "further violation"); said != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s: want %q:\n%s", text, want, got)
		}
	}
}

// BenchmarkRejectRecursive200kB is a long value within many unions: each of them explains what is wrong, and none reads the long value once more.
func BenchmarkRejectRecursive200kB(b *testing.B) {
	const depth = 200
	data := []byte(strings.Repeat(`{"and":[`, depth) + `{"field":"a","op":[` + strings.Repeat("1,", 100_000) + `1]}` + strings.Repeat(`]}`, depth))
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := validate(data, check.Limits{}, decodeFilter); err == nil {
			b.Fatal("accepted")
		}
	}
}
