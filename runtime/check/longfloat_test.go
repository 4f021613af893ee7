package check

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func holdLongFloat(t *testing.T, m uint64, exp int) (decided bool) {
	t.Helper()
	want, err := strconv.ParseFloat(fmt.Sprintf("%de%d", m, exp), 64)
	if err != nil {
		t.Fatal(err)
	}
	v, ok := longFloat(m, exp)
	if ok && math.Float64bits(v) != math.Float64bits(want) {
		t.Fatalf("%d × 10^%d: %v, not %v", m, exp, v, want)
	}
	return ok
}

func FuzzVAL12LongFloat(f *testing.F) {
	f.Add(uint64(12345678901234567), -17)
	f.Add(uint64(9007199254740993), 0) // half-way between two floats
	f.Add(uint64(1), 23)
	f.Fuzz(func(t *testing.T, m uint64, exp int) {
		holdLongFloat(t, m, exp%(maxPower+1))
	})
}

func TestVAL12LongFloatsAreTheNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	decided, n := 0, 0
	for range 100_000 {
		m := r.Uint64() >> (r.Uint64() % 64)
		if holdLongFloat(t, m, r.IntN(2*maxPower+1)-maxPower) {
			decided++
		}
		n++
	}
	for e := -maxPower; e <= maxPower; e++ { // and what lies half-way between two floats
		for range 200 {
			holdLongFloat(t, 1<<53+2*(r.Uint64()>>12)+1, e)
			holdLongFloat(t, math.MaxUint64-r.Uint64()%2000, e)
		}
	}
	if decided < n*99/100 {
		t.Errorf("decided %d of %d", decided, n)
	}
	if v, ok := longFloat(1, maxPower+1); ok {
		t.Errorf("beyond its powers: %v", v)
	}
}

// Numbers of any length are read as strconv reads them, and written back as they were.
func TestVAL12FloatsOfAnyLength(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		v := math.Float64frombits(r.Uint64())
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		for _, text := range []string{strconv.FormatFloat(v, 'g', -1, 64), strconv.FormatFloat(r.NormFloat64(), 'f', -1, 64), strconv.FormatFloat(r.Float64()*1e6, 'f', r.IntN(25)+1, 64)} {
			want, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			var got float64
			if err := Decode([]byte(text), Limits{NumberBytes: 400}, func(d *Decoder, v *float64) { *v = d.Float(nil) }, &got); err != nil || math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%s: %v %v", text, got, err)
			}
		}
	}
}

// The smallest limit of a number's length holds for the quick ways of reading one, too.
func TestVAL07LongFloatsKeepToTheLimitOfNumbers(t *testing.T) {
	var v float64
	err := Decode([]byte("-1.234567890123456789"), Limits{NumberBytes: 20}, func(d *Decoder, v *float64) { *v = d.Float(nil) }, &v)
	if limit, ok := err.(*LimitError); !ok || limit.Reason != NumberTooLong {
		t.Errorf("21 bytes: %v, %v", v, err)
	}
}
