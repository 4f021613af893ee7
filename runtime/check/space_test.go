package check

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestVAL07WhiteSpaceEndsWhereItEnds holds the ends of white space, of many lengths and before every distance from the end of the text, against a loop.
func TestVAL07WhiteSpaceEndsWhereItEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 5000 {
		text := bytes.Repeat([]byte(" "), n%40)
		for range r.IntN(4) {
			if len(text) > 0 {
				text[r.IntN(len(text))] = " \n\t\r \x01\x1f\x00x"[r.IntN(9)]
			}
		}
		text = append(text, "x,{\"a\": 1}"[:r.IntN(11)]...)
		want := 0
		for want < len(text) && bytes.IndexByte([]byte(" \n\t\r"), text[want]) >= 0 {
			want++
		}
		d := Decoder{data: text}
		c := d.peek()
		if got := spaceEnd(text, 0); got != want || d.pos != want || want < len(text) && c != text[want] || want == len(text) && c != 0 {
			t.Fatalf("%q: white space ends at %d, the next byte %q is at %d; want %d", text, got, c, d.pos, want)
		}
	}
}
