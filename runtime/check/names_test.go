package check_test

import (
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
		rule := check.Object{Names: names[from:], Unknown: check.Keep}
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
	rule := check.Object{Names: []string{"a", "b", "c", "d"}, Unknown: check.Refuse}
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
