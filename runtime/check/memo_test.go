package check

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// tree is a value that unions and validators of these tests lead back to.
type tree struct{ child *tree }

var (
	treeUnion  = Union{Keyword: "oneOf", One: true, Forms: make([]Form, 3)}
	treeForms  = [3]Object{{Names: []string{"a"}}, {Names: []string{"a"}, Min: 9}, {Names: []string{"a", "b"}, Required: []string{"b"}}}
	treeGroup  = Union{Keyword: "anyOf", Forms: make([]Form, 3)}
	treeOnce   Once
	treeClosed = Object{Names: []string{"a"}, AdditionalProperties: Refuse}
	treeNot    = Not{}
	treeTagged = Union{Keyword: "oneOf", One: true, Key: "kind", Forms: []Form{{Tags: []string{"x"}}, {Tags: []string{"y"}}}}
	treeNamed  = Union{Keyword: "oneOf", One: true, Members: Object{Names: []string{"x", "y"}}, Forms: []Form{{Needs: 1}, {Needs: 2}}}
)

// pickTree reads objects of objects as one of three forms that only reading tells apart.
func pickTree(d *Decoder) *tree {
	return Pick(d, &treeUnion, func(d *Decoder, form int) *tree {
		v := &tree{}
		members(d, &treeForms[form], func() { v.child = pickTree(d) })
		return v
	})
}

// pickNone is pickTree for texts that no form fits at the innermost level.
func pickNone(d *Decoder) {
	Pick(d, &treeUnion, func(d *Decoder, form int) *tree {
		if form > 0 {
			members(d, &treeForms[form], func() { pickNone(d) })
		} else {
			members(d, &treeClosed, func() { pickNone(d) })
		}
		return nil
	})
}

func members(d *Decoder, r *Object, read func()) {
	for f := d.Object(r); f >= 0; f = d.Next() {
		if f == 0 && d.peek() == '{' {
			read()
		} else {
			d.Skip()
		}
	}
}

// checkTree has every condition lead back to itself.
func checkTree(d *Decoder) {
	d.Once(&treeOnce, func(d *Decoder) {
		form := func(i int) func(*Decoder) {
			return func(d *Decoder) { members(d, &treeForms[i], func() { checkTree(d) }) }
		}
		d.Group(&treeGroup, form(0), form(1), form(2))
		d.Not(&treeNot, func(d *Decoder) { members(d, &treeForms[2], func() { checkTree(d) }) })
		d.If(nil, checkChild, checkChild, checkChild)
	})
}

func checkChild(d *Decoder) { members(d, &treeForms[0], func() { checkTree(d) }) }

func readTagged(u *Union) func(d *Decoder) {
	var read func(d *Decoder)
	read = func(d *Decoder) {
		Pick(d, u, func(d *Decoder, _ int) *tree {
			members(d, &treeForms[0], func() { read(d) })
			return nil
		})
	}
	return read
}

// TestVAL09RecursionIsRemembered: what is tried and what is read again grow with the text, not with a power of its depth.
func TestVAL09RecursionIsRemembered(t *testing.T) {
	nested := func(end string) func(depth int) string {
		return func(depth int) string {
			return strings.Repeat(`{"a":`, depth) + "{" + strings.Repeat("}"+end, depth) + "}"
		}
	}
	filled := func(depth int) string {
		return strings.Repeat(`{"a":`, depth) + `{"a":"` + strings.Repeat("x", 8000) + `","kind":"x"}` + strings.Repeat(`,"kind":"x","y":1}`, depth)
	}
	for name, row := range map[string]struct {
		read func(*Decoder)
		text func(depth int) string
	}{
		"union": {func(d *Decoder) { pickTree(d) }, nested("")},
		"union, none fits": {pickNone, func(depth int) string {
			return strings.Repeat(`{"a":`, depth) + `{"b":` + "1" + strings.Repeat("}", depth+1)
		}},
		"conditions":     {checkTree, nested("")},
		"tag at the end": {readTagged(&treeTagged), filled},
		"key at the end": {readTagged(&treeNamed), filled},
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(depth int) (tries, bytes int) {
				var d Decoder
				d.Reset([]byte(row.text(depth)), Limits{})
				row.read(&d)
				if d.lookaheads != 0 {
					t.Errorf("%d lookaheads are left", d.lookaheads)
				}
				if err := d.Finish(); errors.As(err, new(*LimitError)) || errors.As(err, new(*SyntaxError)) {
					t.Fatal(err)
				}
				if !strings.Contains(name, "end") {
					return d.evaluated, 0 // what is read again is counted at each level that it is read for
				}
				return d.evaluated, d.reread
			}
			tries, bytes := cost(100)
			moreTries, moreBytes := cost(400)
			if moreTries > 5*tries || moreBytes > 5*bytes {
				t.Errorf("%d tries and %d bytes at 100 levels, %d and %d at 400", tries, bytes, moreTries, moreBytes)
			}
		})
	}
}

// TestVAL09WhatIsRememberedIsReadInFull: a value that was only judged while its form was on trial is there in the end.
func TestVAL09WhatIsRememberedIsReadInFull(t *testing.T) {
	var d Decoder
	d.Reset([]byte(strings.Repeat(`{"a":`, 50)+"{}"+strings.Repeat("}", 50)), Limits{})
	depth := 0
	for v := pickTree(&d); v != nil; v = v.child {
		depth++
	}
	if depth != 51 {
		t.Errorf("%d levels, %v", depth, d.Finish())
	}
}

// TestVAL09MemoryIsBoundedByTheText: when there is more to remember than a text deserves, beyond what each may have, it is judged
// again, up to the limit.
func TestVAL09MemoryIsBoundedByTheText(t *testing.T) {
	unions := make([]Union, 40)
	for i := range unions {
		unions[i] = Union{Keyword: "anyOf", Forms: make([]Form, 2)}
	}
	var read func(d *Decoder, level int) int64
	read = func(d *Decoder, level int) int64 {
		if level == len(unions) {
			return d.Int(nil)
		}
		return Pick(d, &unions[level], func(d *Decoder, form int) int64 {
			if form == 0 {
				d.wrongType("something else", "")
			}
			return read(d, level+1)
		})
	}
	outer := Union{Keyword: "oneOf", One: true, Forms: make([]Form, 2)}
	text := []byte("[" + strings.Repeat("1,", 10_000) + "1]")
	var d Decoder
	d.Reset(text, Limits{Evaluations: 1})
	Pick(&d, &outer, func(d *Decoder, form int) int {
		for ok := d.Array(&Array{Min: form * 1_000_000}); ok; ok = d.Item() {
			read(d, 0)
		}
		return 0
	})
	if !d.memo.wasFull || len(d.memo.table) > 2*len(text)+4*minCapacity {
		t.Errorf("%d verdicts of a text of %d bytes are kept, full: %v", len(d.memo.table), len(text), d.memo.wasFull)
	}
	var limit *LimitError
	if err := d.Finish(); err != nil && (!errors.As(err, &limit) || limit.Reason != TooManyEvaluations) {
		t.Error(err)
	}
}

// A value that does not fit counts once for each form, whichever form was the first to read it: the form with the fewest violations is the same in every
// order of the members.
func TestLET14VAL10AnOutcomeCountsTheSameForEachForm(t *testing.T) {
	var (
		union  = Union{Keyword: "anyOf", Forms: make([]Form, 2)}
		object = Object{Names: []string{"k", "x", "m"}, AdditionalProperties: Skip}
		inner  = Object{Names: []string{"a", "b", "c"}}
		once   Once
	)
	read := func(d *Decoder) {
		Pick(d, &union, func(d *Decoder, form int) int {
			for f := d.Object(&object); f >= 0; f = d.Next() {
				switch {
				case f == 1:
					d.Once(&once, func(d *Decoder) {
						for f := d.Object(&inner); f >= 0; f = d.Next() {
							d.String(nil)
						}
					})
				case f == 0 || f == 2 && form == 1:
					d.String(nil)
				default:
					d.Skip()
				}
			}
			return 0
		})
	}
	for _, text := range []string{`{"k":1,"x":{"a":1,"b":1,"c":1},"m":1}`, `{"x":{"a":1,"b":1,"c":1},"k":1,"m":1}`, `{"m":1,"x":{"a":1,"b":1,"c":1},"k":1}`} {
		var d Decoder
		d.Reset([]byte(text), Limits{})
		read(&d)
		err := d.FinishAfter(read)
		if err == nil || !strings.Contains(err.Error(), "/k: ") || strings.Contains(err.Error(), "/m: ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The numbers of generations come again; outcomes do not.
func TestVAL09OutcomesDoNotComeBackWithTheirGeneration(t *testing.T) {
	var d Decoder
	var old, other Once
	d.remember(outcome{schema: &old, start: 5, fits: true})
	d.memo.used, d.memo.last, d.memo.generation = 0, 0, math.MaxUint32 // as if it had been emptied so often
	d.remember(outcome{schema: &other, start: 6, fits: true})
	d.dropOutcomes(7)
	d.remember(outcome{schema: &other, start: 8, fits: true})
	if d.known(&old, 5) != nil {
		t.Error("an outcome from before is known")
	}
	if d.known(&other, 8) == nil {
		t.Error("the last outcome is not known")
	}
}
