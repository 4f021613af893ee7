package check_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// Finding repeated keys takes little beside the text, whose number of keys is its sender's choice.
func TestVAL07ManyKeysTakeLittleMemory(t *testing.T) {
	const size = 16 << 20
	text := make([]byte, 0, size)
	text = append(text, `{"":0`...)
	for i := 0; len(text) < size-16; i++ {
		text = fmt.Appendf(text, `,"%x":0`, i)
	}
	text = append(text, '}')
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := check.Valid(text, check.Limits{})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Error(err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 8*size {
		t.Errorf("%d MiB were allocated for 16 MiB of keys", n>>20)
	}
}

// nest writes an object of many members whose keys are few or many, and says whether none is repeated in its object.
func nest(r *rand.Rand, b *strings.Builder, depth int) (unique bool) {
	unique = true
	seen := map[string]bool{}
	b.WriteByte('{')
	for i := range r.IntN(60) {
		if i > 0 {
			b.WriteByte(',')
		}
		key := fmt.Sprint(r.IntN(4000))
		unique = unique && !seen[key]
		seen[key] = true
		if quoted, _ := json.Marshal(key); r.IntN(4) > 0 {
			b.Write(quoted)
		} else {
			fmt.Fprintf(b, `"\u%04x%s"`, key[0], key[1:])
		}
		b.WriteByte(':')
		if depth > 0 && r.IntN(6) == 0 {
			unique = nest(r, b, depth-1) && unique
		} else {
			b.WriteByte('1')
		}
	}
	b.WriteByte('}')
	return unique
}

// Objects with many keys in one another: each is held to its own keys, and a key of another object is none of its own.
func TestVAL07KeysOfNestedObjectsAreTheirOwn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	both := map[bool]int{}
	for range 400 {
		var b strings.Builder
		unique := nest(r, &b, 3)
		both[unique]++
		if err := check.Valid([]byte(b.String()), check.Limits{}); (err == nil) != unique {
			t.Fatalf("%s: unique %v, got %v", b.String(), unique, err)
		}
	}
	if both[true] < 20 || both[false] < 20 {
		t.Errorf("%v", both)
	}
}

// Forms that are tried and left within an object of many keys leave none of them behind.
func TestVAL07TriesLeaveNoKeysBehind(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"x":0`)
	for i := range 40 {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	many := b.String()
	rule := check.Object{Names: []string{"y"}, Required: []string{"y"}, AdditionalProperties: check.Skip}
	open := func(d *check.Decoder) {
		for f := d.Object(&check.Object{}); f >= 0; f = d.Next() {
			d.Skip()
		}
	}
	needs := func(d *check.Decoder) {
		for f := d.Object(&rule); f >= 0; f = d.Next() {
			d.Skip()
		}
	}
	for text, fits := range map[string]bool{
		`[` + many + `},` + many + `,"y":1}]`:                  true,
		`[` + many + `,"n":` + many + `,"y":1},"y":1}]`:        true,
		`[` + many + `,"n":` + many + `,"y":1,"k39":1}}]`:      false,
		`[` + many + `,"n":` + many + `,"y":1},"k3\u0039":1}]`: false,
	} {
		err := check.Decode([]byte(text), check.Limits{}, func(d *check.Decoder, _ *struct{}) {
			d.Each(&check.Array{}, func(d *check.Decoder) {
				d.Choose(&check.Union{Keyword: "anyOf", Forms: make([]check.Form, 2)}, needs, open)
			})
		}, new(struct{}))
		if (err == nil) != fits {
			t.Errorf("%s: %v", text, err)
		}
	}
}
