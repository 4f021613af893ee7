package check

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
	"sync"
	"unicode/utf8"
)

// Decoder reads one JSON text into typed values and collects its violations. It is reusable and not safe for
// concurrent use: Get one, decode, Finish, Put.
//
// Strings and raw values are copied, never aliases of the data, but small ones share an allocation, also those of several
// texts: one of them keeps up to chunkBytes of its neighbours alive, which no account counts.
type Decoder struct {
	data    []byte // emptied by fail, so that every method and every loop ends without testing err
	pos     int
	frames  []frame
	chunk   strings.Builder // copies of small strings, of this text and of earlier ones
	raws    []byte          // copies of small raw values
	scratch []byte          // the buffer in which strings are unescaped
	spare   any             // what New allocated last for a form that did not fit, to be used again
	err     error

	full    []byte // the data given to Reset, also when data was dropped after an error
	limits  Limits
	account Account // nil: only the limits bound the memory of values
	state
	violations []Violation
	repeated   []Violation // repeated keys; never rolled back

	wide  []uint64 // seen bits of objects with more than 64 names
	items []item   // the items of the open arrays with uniqueItems
	keys  keySet
	memo  memo

	outline outline
	marks   marks
}

// state has the fields that are zero when a new text begins.
type state struct {
	tried
	granted       int  // how far tried.decoded may grow before the account is asked
	evaluated     int  // how many forms and conditions were tried
	reread        int  // bytes looked at more than once
	reached       int  // where reading the last form that did not fit ended
	misled        int  // how often choosing a form by a member cost another reading or look
	broken        int  // violations so far, listed or not
	found         int  // like broken, without those of a union's best form, whose number depends on what is listed: so two readings of one text agree on it
	headings      int  // how many of the listed violations only say that no form of a union fits
	omitted       int  // how many of broken are not listed, because another keyword's violation says the same of the same value
	aroundLast    part // the outermost array around the violation that was listed last, for readCanonical
	hardString    span // the last long string with escapes or beyond ASCII
	root          int  // how many frames do not belong to paths: they lead to a part that is read as a separate text, see Within
	remembersEnds bool // what is skipped will be read again, so the memo gets where long values end, see extent
	byOrder       bool // which violations are listed depends on the order of the text
	tied          bool // two forms of a union were equally good, and the order of the text decided which one's violations are listed
	discard       bool // the decoded value is not used
	unread        bool // strings are not copied: the value is not used, or an earlier item of the list has a violation
	stops         bool // reading ends after the last violation that is listed
	scanned       bool // the caller says that the data is valid JSON without repeated keys: what is skipped is not validated

	hidden string // properties whose values no violation shows, see Hide
}

// frame is one open object or array: what its rule needs, and the path to the current value.
type frame struct {
	names   *nameTable // of the object's rule; nil: array
	array   *Array
	seen    uint64 // which of names.rule.Names have come, a bit each; beyond 64 names see base
	unknown uint64 // the other keys that have come: for each, one of 64 bits that its signature selects
	field   int32  // index of the current member in names.rule.Names, or Other; -1: none yet
	count   int32  // members or items begun
	start   int32  // offset of the bracket
	key     span   // the current member's name as written, without quotes
	keys    int32  // where its unknown keys begin in keySet.list
	base    int32  // where its words begin in wide, or its items in items
}

// span is a part of the data.
type span struct {
	start, end int32
	escaped    bool
}

// decoders are pooled because allocating their stacks is most of the cost of a small value. Only memory survives Put, nothing that was found out.
var decoders = sync.Pool{New: func() any { return new(Decoder) }}

// Get returns a Decoder for data. The Decoder aliases data until Put.
func Get(data []byte, lim Limits) *Decoder {
	d := decoders.Get().(*Decoder)
	d.begin(data, lim)
	return d
}

// Discard says that the decoded value will not be used: the text is only validated. Strings stay empty where no rule looks at
// them. Call it before anything is decoded.
func (d *Decoder) Discard() { d.discard, d.unread = true, true }

// Put gives the Decoder back. Decoded values stay valid; the Decoder does not.
func (d *Decoder) Put() {
	if len(d.full) > 1<<20 {
		return // its stacks may be large: they are not kept
	}
	d.end()
	decoders.Put(d)
}

// Reset begins a new text. The zero Decoder may be Reset too.
func (d *Decoder) Reset(data []byte, lim Limits) {
	d.end()
	d.begin(data, lim)
}

func (d *Decoder) begin(data []byte, lim Limits) {
	d.data, d.full = data, data
	if lim.Depth|lim.Bytes|lim.NumberBytes|lim.Violations|lim.Evaluations|lim.Decoded == 0 {
		d.limits = defaults
	} else {
		d.limits = lim.withDefaults()
	}
	d.most, d.granted = d.limits.Violations, d.limits.Decoded
	if len(data) > min(d.limits.Bytes, math.MaxInt32) { // offsets are int32
		d.refuse(TooLong, 0, d.limits.Bytes)
	}
}

// end drops everything but the memory that the next text uses.
func (d *Decoder) end() {
	d.data, d.full, d.pos, d.err, d.account = nil, nil, 0, nil, nil
	d.raws, d.spare = nil, nil
	d.frames, d.wide, d.items = d.frames[:0], d.wide[:0], d.items[:0]
	d.violations, d.repeated = nil, nil
	d.state = state{}
	d.keys.list = d.keys.list[:0]
	if d.marks.wanted {
		d.marks.end()
	}
	if len(d.keys.many) > 0 {
		d.keys.truncate(0)
	}
	if len(d.memo.table) > 0 {
		d.memo.reset()
	}
}

// Finish refuses text after the value and returns what is wrong: nil, *SyntaxError, *LimitError, the Account's error or Violations. Of
// many violations it returns those that come first in the text, see FinishAfter.
func (d *Decoder) Finish() error {
	if d.pos < len(d.data) {
		if d.peek(); d.pos < len(d.data) {
			d.unexpected("the end")
		}
	}
	if d.err != nil {
		return d.err
	}
	if d.broken == 0 && len(d.repeated) == 0 {
		return nil
	}
	return d.allViolations()
}

// Decode reads data, one JSON text, into v.
func Decode[T any](data []byte, lim Limits, decode func(*Decoder, *T), v *T) error {
	d := Get(data, lim)
	decode(d, v)
	err := d.FinishAfter(func(d *Decoder) { decode(d, new(T)) })
	d.Put()
	return err
}

// GetScanned is Get for data such as DecodeScanned decodes.
func GetScanned(data []byte, lim Limits) *Decoder {
	d := Get(data, lim)
	d.scanned = true
	return d
}

// DecodeScanned is Decode for a part of a text that a Decoder took without an error under the same limits. What is skipped
// in it is not validated again.
func DecodeScanned[T any](data []byte, lim Limits, decode func(*Decoder, *T), v *T) error {
	d := GetScanned(data, lim)
	decode(d, v)
	err := d.FinishAfter(func(d *Decoder) { decode(d, new(T)) })
	d.Put()
	return err
}

// Within takes the next value as if it were a separate text: paths begin there, and its violations are returned.
// Malformed text, limits and repeated keys are still reported by Finish.
func Within[T any](d *Decoder, decode func(*Decoder, *T), v *T) error {
	outer := d.state
	violations, start := d.violations, d.here()
	d.root, d.broken, d.found, d.headings, d.omitted, d.most, d.byOrder, d.unread, d.violations = len(d.frames), 0, 0, 0, 0, d.limits.Violations, false, d.discard, nil
	decode(d, v)
	var err error
	if d.broken > 0 {
		err = d.inCanonicalOrder(d.bounded(d.violations, d.broken-d.omitted), d.Since(Position{start}), func(d *Decoder) { decode(d, new(T)) })
	}
	d.root, d.broken, d.found, d.headings, d.omitted, d.most, d.byOrder, d.unread, d.violations = outer.root, outer.broken, outer.found, outer.headings, outer.omitted, outer.most, outer.byOrder, outer.unread, violations
	return err
}

// Valid scans data, one JSON text of any shape, and returns nil, *SyntaxError or *LimitError. Repeated keys are
// refused at any depth.
func Valid(data []byte, lim Limits) error {
	d := Get(data, lim)
	d.Skip()
	err := d.Finish()
	if _, ok := err.(Violations); ok { // without a schema these are repeated keys only
		err = &LimitError{Reason: DuplicateKey, Offset: d.repeated[0].offset, Detail: d.repeated[0].Found}
	}
	d.Put()
	return err
}

// peek skips white space and returns the next byte without taking it; 0 at the end. It is small enough to be inlined, as long as peekSpaced
// is not.
func (d *Decoder) peek() (c byte) {
	if d.pos < len(d.data) {
		if c = d.data[d.pos]; c > ' ' {
			return
		}
	}
	return d.peekSpaced()
}

//go:noinline
func (d *Decoder) peekSpaced() byte {
	if data, i := d.data, d.pos; i+10 <= len(data) {
		w := (*[10]byte)(data[i : i+10])
		n := spaces(w)
		if c := w[n]; n > 0 && c > ' ' {
			d.pos = i + n
			return c
		}
	}
	return d.peekFar()
}

func (d *Decoder) peekFar() byte {
	if d.pos = spaceEnd(d.data, d.pos); d.pos < len(d.data) {
		return d.data[d.pos]
	}
	return 0
}

// spaces returns how many of the first bytes of w are white space: one of any kind, and the spaces after it. Most white space is that: one space, or a
// line break and an indentation.
func spaces(w *[10]byte) int {
	if !isSpace(w[0]) {
		return 0
	}
	return 1 + bits.TrailingZeros64(binary.LittleEndian.Uint64(w[1:9])^ones*' ')>>3
}

// spaceEnd returns the first index from i on without white space. It is not inlined, so that its callers, which first look whether there is any,
// can be.
//
//go:noinline
func spaceEnd(data []byte, i int) int {
	for i+10 <= len(data) {
		w := (*[10]byte)(data[i : i+10])
		n := spaces(w)
		if i += n; n == 0 || w[n] > ' ' {
			return i
		}
	}
	for i < len(data) && isSpace(data[i]) {
		i++
	}
	return i
}

// fail ends decoding. The first error stays.
func (d *Decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.data = d.data[:0] // it keeps its pointer: writing a pointer is expensive while garbage is collected
	d.pos = 0
}

func (d *Decoder) refuse(r Reason, offset, limit int) {
	d.fail(&LimitError{Reason: r, Offset: offset, Max: limit})
}

// unexpected fails at the current byte.
func (d *Decoder) unexpected(want string) {
	if d.err != nil {
		return
	}
	e := &SyntaxError{Offset: d.pos, Want: want}
	if d.pos < len(d.data) {
		r, size := utf8.DecodeRune(d.data[d.pos:])
		e.Found = quoteRune(r, size, d.data[d.pos])
	}
	d.fail(e)
}

// open pushes a frame for the bracket at pos and takes it; nil when too deep.
func (d *Decoder) open(names *nameTable, array *Array) *frame {
	n := len(d.frames)
	if n >= d.limits.Depth {
		d.refuse(TooDeep, d.pos, d.limits.Depth)
		return nil
	}
	if n == cap(d.frames) {
		d.frames = append(d.frames, frame{})
	}
	d.frames = d.frames[:n+1]
	f := &d.frames[n]                         // what is not set here is set before it is read
	if f.names != names || f.array != array { // pointers cost more to write than to compare while garbage is collected
		f.names, f.array = names, array
	}
	f.seen, f.unknown, f.field, f.count = 0, 0, -1, 0
	f.start, f.keys = int32(d.pos), int32(len(d.keys.list))
	d.pos++
	return f
}

// closeFrame pops the innermost frame, which is f. It is small enough to be inlined.
func (d *Decoder) closeFrame(f *frame) {
	if f.unknown != 0 {
		d.keys.forget(f)
	}
	d.frames = d.frames[:len(d.frames)-1]
}
