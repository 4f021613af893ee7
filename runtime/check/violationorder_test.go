package check_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/respell"
)

// forest has two lists, each of which may have more violations than are listed.
type forest struct{ first, second []Tree }

var forestRule = check.Object{Names: []string{"first", "second"}, AdditionalProperties: check.Skip}

func decodeForest(d *check.Decoder, v *forest) {
	for f := d.Object(&forestRule); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.first = check.List(d, nil, decodeTree)
		case 1:
			v.second = check.List(d, nil, decodeTree)
		}
	}
}

// trees is a list of n trees, of which those from an index on have three violations each.
func trees(n, from int) []byte {
	b := []byte{'['}
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		if i < from {
			b = fmt.Appendf(b, `{"name":"t%d"}`, i)
			continue
		}
		b = fmt.Appendf(b, `{"next":{"name":%d.0},"children":[{"name":"a"},{"y":1,"name":"x"},{"name":2}],"name":"t"}`, i)
	}
	return append(b, ']')
}

// TestLET14ManyViolations: which of many violations are listed depends on no order either where most of the text is not read a second time.
func TestLET14ManyViolations(t *testing.T) {
	several := []byte(fmt.Sprintf(`[%s,%s]`, trees(1, 1), trees(3, 0)))
	for _, text := range [][]byte{
		fmt.Appendf(nil, `{"second":%s,"first":%s}`, trees(90, 0), trees(4, 0)),
		fmt.Appendf(nil, `{"second":%s,"first":%s}`, trees(4, 2), trees(90, 0)),
		fmt.Appendf(nil, `{"second":%s,"first":%s}`, trees(90, 0), trees(90, 0)),
		fmt.Appendf(nil, `{"second":%s,"first":%s}`, trees(90, 80), trees(90, 85)),
		fmt.Appendf(nil, `{"z":%s,"second":%s,"a":%s,"first":[]}`, several, trees(40, 0), several),
	} {
		for seed := range uint64(20) {
			other, ok := respell.JSON(text, seed)
			if !ok || bytes.Equal(text, other) {
				t.Fatal("not another spelling")
			}
			alike(t, text, other, decodeForest)
		}
	}
	for _, n := range []int{12, 33, 400} {
		text := trees(n, 0)
		for seed := range uint64(20) {
			other, _ := respell.JSON(text, seed)
			alike(t, text, other, func(d *check.Decoder, v *[]Tree) { *v = check.List(d, nil, decodeTree) })
			alike(t, text, other, decodeWatched)
		}
	}
}

var watched = check.Union{Keyword: "anyOf", Forms: []check.Form{{}, {}}}

// decodeWatched reads a list that is looked at as a whole before.
func decodeWatched(d *check.Decoder, v *[]Tree) {
	d.Group(&watched, func(d *check.Decoder) { d.Value(&check.Values{JSON: []string{"[]"}}) }, (*check.Decoder).Skip)
	*v = check.List(d, &check.Array{Max: 20, Unique: true}, decodeTree)
}

// Items are sorted by their indexes and before members, members by their names: as steps, so a name that goes on after another one comes later
// whatever it goes on with.
func TestLET14ViolationsAreSortedByTheStepsOfTheirPaths(t *testing.T) {
	sorted := []string{"", "/2", "/2/b", "/10", "/10/1", "/10/a", "/", "/01x", "/a", "/a/9/z", "/a/10", "/a/10/c", "/a/", "/a/b", "/a b", "/a!/0", "/ab", "/b/a"}
	for seed := range len(sorted) {
		all := make(check.Violations, len(sorted))
		for i := range sorted {
			all[(i*7+seed)%len(sorted)].Instance = sorted[i]
		}
		all.Sort()
		for i, v := range all {
			if v.Instance != sorted[i] {
				t.Fatalf("%q is where %q belongs", v.Instance, sorted[i])
			}
		}
	}
}

// The words for what an enum allows are made once, so a violation costs the same however many values there are.
func TestVAL02AViolationCostsTheSameForAnyEnum(t *testing.T) {
	allocations := func(values []string) float64 {
		var d check.Decoder // a pooled one may be dropped under the race detector
		rule, text := &check.Enum{Values: values}, []byte(`"x"`)
		return testing.AllocsPerRun(100, func() {
			d.Reset(text, check.Limits{})
			d.Enum(rule)
			if d.Finish() == nil {
				t.Fatal("accepted")
			}
		})
	}
	one, many := allocations([]string{"a"}), allocations(slices.Repeat([]string{"a", "b"}, 20))
	if one != many {
		t.Errorf("%v allocations for one value, %v for many", one, many)
	}
}
