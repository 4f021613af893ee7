package server

import (
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// largeBuffers are buffers of outputs and answers that are larger than what a request keeps. Each is used by one answer at a time, from its encoding
// until it is written. Left to the garbage collector, those of each answer would bring on its next run.
type largeBuffers struct {
	mu    sync.Mutex
	spare [][]byte
	bytes int // of spare
}

const (
	largestBuffer = 4 << 20 // bytes of the largest one that is used again
	spareBuffers  = 8 << 20 // bytes of all that are not in use
)

// grow makes room in b for about n more bytes, if they are many: growing by steps would leave several times as much behind.
func (l *largeBuffers) grow(b []byte, n int) []byte {
	if n < keptBuffer || cap(b)-len(b) >= n {
		return b
	}
	if kept := l.take(len(b) + n); kept != nil {
		return append(kept, b...)
	}
	return slices.Grow(b, n+1<<10)
}

// take returns the smallest buffer of so many bytes, nil if there is none.
func (l *largeBuffers) take(n int) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := -1
	for i, b := range l.spare {
		if cap(b) >= n && (found < 0 || cap(b) < cap(l.spare[found])) {
			found = i
		}
	}
	if found < 0 {
		return nil
	}
	return l.remove(found)
}

// remove takes one out of the list. With l.mu.
func (l *largeBuffers) remove(i int) []byte {
	b := l.spare[i]
	l.spare = slices.Delete(l.spare, i, i+1)
	l.bytes -= cap(b)
	return b
}

// give takes a buffer back that nobody uses any more, if it is a large one. Those that are there longest make room.
func (l *largeBuffers) give(b []byte) {
	if cap(b) <= keptBuffer || cap(b) > largestBuffer {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.bytes+cap(b) > spareBuffers {
		l.remove(0)
	}
	l.spare = append(l.spare, b[:0])
	l.bytes += cap(b)
}

// Marks stand for the content and the structured content of a result while what is around them is written. No JSON has such bytes.
var (
	contentMark    = []byte{0}
	structuredMark = []byte{1}
)

// appendStructured appends a result with an output and its text, which is escaped to where it stays: nothing else has a copy of a large one.
func (r *request) appendStructured(b []byte) []byte {
	result, data, start := r.result, r.result.StructuredContent, len(b)
	r.result.Content, r.result.StructuredContent = contentMark, structuredMark
	b = r.revision.AppendCallResult(b, &r.result)
	r.result = result
	around := append(make([]byte, 0, 256), b[start:]...)
	b = r.p.s.large.grow(b[:start], 2*len(data)+len(data)/8)
	for i, c := range around {
		switch c {
		case contentMark[0]:
			b = appendText(b, text(data))
		case structuredMark[0]:
			b = append(b, data...)
		default:
			b = append(b, around[i])
		}
	}
	return b
}

// hasText reports whether the content of the result is to be the text of its output.
func hasText(r *wire.CallResult) bool { return r.Content == nil && r.StructuredContent != nil }
