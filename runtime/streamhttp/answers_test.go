package streamhttp

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// LET07: the copy of an answer is used again when that was written, not before, whoever's session it is of.
func TestLET07AnswersThatGoOutAloneShareNoBuffers(t *testing.T) {
	f := newFixture(t)
	var all sync.WaitGroup
	for i := range 4 {
		session := f.initialize()
		all.Go(func() {
			for n := range 12 {
				text := strings.Repeat(fmt.Sprintf("call %d of session %d, ", n, i), 100*(1+(n+i)%50))
				raw := body(f.post(callBody(fmt.Sprint(n+1), "echo", text), session))
				if got := field(raw, "result", "structuredContent", "text"); got != `"`+text+`"` && got != text {
					t.Errorf("call %d of session %d: it is %.200s", n, i, raw)
				}
			}
		})
	}
	all.Wait()
}

// TestTSK28WhatIsKeptOfAnAnswerIsAsLargeAsItCounts: an answer may be kept for a client that comes back, and counts with its length. So it is not
// made in a buffer that is much larger, which goes on to whoever needs it.
func TestTSK28WhatIsKeptOfAnAnswerIsAsLargeAsItCounts(t *testing.T) {
	var p pools
	large := make([]byte, 0, largestAnswer)
	for range 100 { // a pool may lose what it is given
		p.putAnswer(large)
		if small := p.copied(make([]byte, spareBuffer+1), true); cap(small) > 2*len(small)+spareBuffer {
			t.Fatalf("an answer of %d bytes holds %d", len(small), cap(small))
		}
	}
}
