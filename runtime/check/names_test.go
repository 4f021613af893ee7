package check_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// TestVAL03NamesAreFoundInAnyOrder has names of every length around a word, and names that differ only where no signature
// looks.
func TestVAL03NamesAreFoundInAnyOrder(t *testing.T) {
	names := []string{"", "a", "é", "seven77", "eight888", "nine99999", "12345678-a-12345678", "12345678-b-12345678", "with\"quote"}
	for i := range 70 {
		names = append(names, strings.Repeat("n", i%12)+strconv.Itoa(i))
	}
	for from := range names {
		rule := check.Object{Names: names[from:], AdditionalProperties: check.Keep}
		for step := range 2 { // the first look makes the table
			lookUp(t, &rule, names, from, step)
		}
	}
}

// lookUp decodes an object with all names, backwards, of which the rule knows those from an index on.
func lookUp(t *testing.T, rule *check.Object, names []string, from, step int) {
	b := []byte{'{'}
	for i := len(names) - 1; i >= 0; i-- {
		b = check.AppendInt(append(check.AppendString(check.Member(b, ""), names[i]), ':'), int64(i))
	}
	d := check.Get(append(b, '}'), check.Limits{})
	defer d.Put()
	for f := d.Object(rule); f >= 0; f = d.Next() {
		i := int(d.Int(nil))
		if want := i - from; want >= 0 && f != want || want < 0 && f != check.Other {
			t.Fatalf("from %d, step %d: %q is %d", from, step, names[i], f)
		}
	}
	if err := d.Finish(); err != nil {
		t.Fatal(err)
	}
}

// TestVAL03RulesServeManyDecodersAtOnce is for the race detector: the table of a rule is made on first use.
func TestVAL03RulesServeManyDecodersAtOnce(t *testing.T) {
	rule := check.Object{Names: []string{"a", "b", "c", "d"}, AdditionalProperties: check.Refuse}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			d := check.Get([]byte(`{"d":3,"c":2,"b":1,"a":0}`), check.Limits{})
			defer d.Put()
			for f := d.Object(&rule); f >= 0; f = d.Next() {
				if got := d.Int(nil); got != int64(f) {
					t.Errorf("%d is %d", got, f)
				}
			}
		})
	}
	all.Wait()
}

// TestVAL03WhatIsExpectedNextDoesNotMatter takes objects in every order with rules that have met every other order first:
// names with the same beginning, one too long to be expected, one with an escape that may accept null.
func TestVAL03WhatIsExpectedNextDoesNotMatter(t *testing.T) {
	names := []string{"a", "a\"b", "a name that is long", "a name that is lonG", "a name that is longer than three words"}
	orders := permutations(len(names))
	for _, first := range orders {
		for _, nullable := range [][]string{nil, names[1:2]} {
			rule := check.Object{Names: names, Required: names, Nullable: nullable, AdditionalProperties: check.Refuse}
			for _, order := range append([][]int{first}, orders...) {
				takeInOrder(t, &rule, order)
			}
		}
	}
}

// takeInOrder takes an object with those members: as it is, with spaces, with the last one cut off, with the first one twice.
func takeInOrder(t *testing.T, rule *check.Object, order []int) {
	t.Helper()
	write := func(order []int, sep string) []byte {
		var members []string
		for _, i := range order {
			value := strconv.Itoa(i)
			if rule.Nullable != nil && i == 1 {
				value = "null"
			}
			members = append(members, string(check.AppendString(nil, rule.Names[i]))+":"+sep+value)
		}
		return []byte("{" + sep + strings.Join(members, sep+","+sep) + "}")
	}
	last := len(order) - 1
	for _, row := range []struct {
		text []byte
		want string // keyword of the only violation
	}{
		{write(order, ""), ""},
		{write(order, " "), ""},
		{write(order[:last], ""), "required"},
		{write(append(slices.Clone(order), order[0]), ""), "duplicate"},
		{write(append([]int{order[0]}, order...), ""), "duplicate"},
	} {
		d := check.Get(row.text, check.Limits{})
		for f := d.Object(rule); f >= 0; f = d.Next() {
			if got := d.Int(nil); got != int64(f) {
				t.Fatalf("%s: %q is %d", row.text, rule.Names[f], got)
			}
		}
		err := d.Finish()
		d.Put()
		if found, _ := err.(check.Violations); row.want == "" && err != nil || row.want != "" && (len(found) != 1 || found[0].Keyword != row.want) {
			t.Fatalf("%s: got %v, want %q", row.text, err, row.want)
		}
	}
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return all
}
