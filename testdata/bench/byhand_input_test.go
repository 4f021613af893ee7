package bench

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/check"

	"github.com/mcpkiln/mcpkiln/testdata/bench/kiln"
)

// The members of each object, in the order in which they are usually written.
var (
	orderNames      = []string{`"symbol":`, `"side":`, `"quantity":`, `"limit":`, `"note":`}
	tripNames       = []string{`"id":`, `"traveller":`, `"legs":`, `"note":`}
	travellerNames  = []string{`"name":`, `"email":`, `"born":`, `"tags":`}
	legNames        = []string{`"from":`, `"to":`, `"departs":`, `"price":`, `"seat":`}
	seatObjectNames = []string{`"row":`, `"letter":`}
	recordsNames    = []string{`"records":`}
	recordNames     = []string{`"id":`, `"name":`, `"score":`, `"active":`, `"kind":`}
)

func orderByHand(data []byte) (*kiln.PlaceOrderInput, error) {
	o := new(kiln.PlaceOrderInput)
	h, seen := hand{data: data}, 0
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		f = h.field(orderNames, f+1)
		switch f {
		case 0:
			o.Symbol = h.capitals(1, 8)
			seen |= 1
		case 1:
			o.Side = h.side()
			seen |= 2
		case 2:
			o.Quantity = h.integer()
			h.require(o.Quantity >= 1 && o.Quantity <= 1_000_000)
			seen |= 4
		case 3:
			o.Limit = check.Some(h.float())
			h.require(o.Limit.Value > 0)
		case 4:
			o.Note = check.Some(h.string(0, 80))
		default:
			h.skip()
		}
	}
	h.require(seen == 7)
	return o, h.end()
}

func (h *hand) side() kiln.PlaceOrderInputSide {
	switch string(h.text()) {
	case "buy":
		return kiln.PlaceOrderInputSideBuy
	case "sell":
		return kiln.PlaceOrderInputSideSell
	}
	h.fail()
	return ""
}

// capitals is a string of the pattern ^[A-Z]{low,high}$.
func (h *hand) capitals(low, high int) string {
	v := h.text()
	ok := len(v) >= low && len(v) <= high
	for _, c := range v {
		ok = ok && c-'A' < 26
	}
	h.require(ok)
	return string(v)
}

// string is one of so many characters.
func (h *hand) string(low, high int) string {
	v := h.text()
	if len(v) > high || len(v) < low*utf8.UTFMax {
		n := utf8.RuneCount(v)
		h.require(n >= low && n <= high)
	}
	return string(v)
}

func tripByHand(data []byte) (*kiln.BookTripInput, error) {
	t := new(kiln.BookTripInput)
	h, seen := hand{data: data}, 0
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		f = h.field(tripNames, f+1)
		switch f {
		case 0:
			t.ID = h.formatted(isUUID)
			seen |= 1
		case 1:
			h.traveller(&t.Traveller)
			seen |= 2
		case 2:
			t.Legs = h.legs()
			seen |= 4
		case 3:
			if t.Note.Null = h.null(); !t.Note.Null {
				t.Note.Optional = check.Some(string(h.text()))
			}
		default:
			h.skip()
		}
	}
	h.require(seen == 7)
	return t, h.end()
}

func (h *hand) traveller(t *kiln.BookTripInputTraveller) {
	seen := 0
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		f = h.field(travellerNames, f+1)
		switch f {
		case 0:
			t.Name = h.string(1, 100)
			seen |= 1
		case 1:
			t.Email = h.formatted(isEmail)
			seen |= 2
		case 2:
			t.Born = check.Some(h.formatted(isDate))
		case 3:
			t.Tags = h.tags()
		default:
			h.skip()
		}
	}
	h.require(seen == 3)
}

// tags are at most 20, so that they can be gathered on the stack.
func (h *hand) tags() []string {
	var buf [20]string
	n := 0
	for more := h.open('[', ']'); more; more = h.more(']') {
		tag := h.text()
		if n == len(buf) {
			h.fail()
			return nil
		}
		for _, other := range buf[:n] {
			h.require(string(tag) != other)
		}
		buf[n] = string(tag)
		n++
	}
	return slices.Clone(buf[:n])
}

// legs are 1 to 20.
func (h *hand) legs() []kiln.BookTripInputLeg {
	var buf [20]kiln.BookTripInputLeg
	n := 0
	for more := h.open('[', ']'); more; more = h.more(']') {
		if n == len(buf) {
			h.fail()
			return nil
		}
		h.leg(&buf[n])
		n++
	}
	h.require(n > 0)
	return slices.Clone(buf[:n])
}

func (h *hand) leg(l *kiln.BookTripInputLeg) {
	seen := 0
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		f = h.field(legNames, f+1)
		switch f {
		case 0:
			l.From = h.capitals(3, 3)
			seen |= 1
		case 1:
			l.To = h.capitals(3, 3)
			seen |= 2
		case 2:
			l.Departs = h.formatted(isDateTime)
			seen |= 4
		case 3:
			l.Price = check.Some(h.float())
			h.require(l.Price.Value >= 0)
		case 4:
			l.Seat = h.seat()
			seen |= 8
		default:
			h.skip()
		}
	}
	h.require(seen == 15)
}

func (h *hand) seat() kiln.BookTripInputLegSeat {
	if h.peek() == '{' {
		return h.seatObject()
	}
	v := h.text()
	n := len(v) - 1
	h.require((n == 1 || n == 2) && v[0]-'0' <= 9 && (n == 1 || v[1]-'0' <= 9) && v[n]-'A' < 6)
	return kiln.BookTripInputLegSeatString(v)
}

func (h *hand) seatObject() *kiln.BookTripInputLegSeatObject {
	s := new(kiln.BookTripInputLegSeatObject)
	seen := 0
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		f = h.field(seatObjectNames, f+1)
		switch f {
		case 0:
			s.Row = h.integer()
			h.require(s.Row >= 1 && s.Row <= 60)
			seen |= 1
		case 1:
			v := h.text()
			if len(v) != 1 || v[0]-'A' >= 6 {
				h.fail()
				break
			}
			s.Letter = letters[v[0]-'A']
			seen |= 2
		default:
			h.skip()
		}
	}
	h.require(seen == 3)
	return s
}

var letters = [...]kiln.BookTripInputLegSeatObjectLetter{"A", "B", "C", "D", "E", "F"}

func recordsByHand(data []byte) (*kiln.ImportRecordsInput, error) {
	in := new(kiln.ImportRecordsInput)
	h, seen := hand{data: data}, false
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		f = h.field(recordsNames, f+1)
		switch f {
		case 0:
			in.Records = h.records()
			seen = true
		default:
			h.skip()
		}
	}
	h.require(seen)
	return in, h.end()
}

// records grows the list by what the length of those so far says of the rest.
func (h *hand) records() []kiln.ImportRecordsInputRecord {
	list := make([]kiln.ImportRecordsInputRecord, 0, 16)
	for more := h.open('[', ']'); more; more = h.more(']') {
		if len(list) == cap(list) {
			each := h.pos / len(list)
			list = slices.Grow(list, (len(h.data)-h.pos)/each+1)
		}
		list = list[:len(list)+1]
		h.record(&list[len(list)-1])
	}
	return list
}

func (h *hand) record(r *kiln.ImportRecordsInputRecord) {
	seen := 0
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		f = h.field(recordNames, f+1)
		switch f {
		case 0:
			r.ID = h.integer()
			h.require(r.ID >= 1)
			seen |= 1
		case 1:
			r.Name = h.string(1, 64)
			seen |= 2
		case 2:
			r.Score = h.float()
			h.require(r.Score >= 0 && r.Score <= 100)
			seen |= 4
		case 3:
			r.Active = check.Some(h.boolean())
		case 4:
			r.Kind = check.Some(h.kind())
		default:
			h.skip()
		}
	}
	h.require(seen == 7)
}

func (h *hand) kind() kiln.ImportRecordsInputRecordKind {
	switch string(h.text()) {
	case "small":
		return kiln.ImportRecordsInputRecordKindSmall
	case "medium":
		return kiln.ImportRecordsInputRecordKindMedium
	case "large":
		return kiln.ImportRecordsInputRecordKindLarge
	}
	h.fail()
	return ""
}

// formatted is a string of a format.
func (h *hand) formatted(is func([]byte) bool) string {
	v := h.text()
	h.require(is(v))
	return string(v)
}

func isUUID(v []byte) bool {
	return len(v) == 36 && v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-' &&
		allHex(v[:8]) && allHex(v[9:13]) && allHex(v[14:18]) && allHex(v[19:23]) && allHex(v[24:])
}

// isEmail takes atoms with dots before the @ and a host name after it. Quoted names and addresses in brackets, which
// nobody has, it does not take.
func isEmail(v []byte) bool {
	at := bytes.IndexByte(v, '@')
	if at < 1 || at > 64 || len(v)-at > 254 {
		return false
	}
	last := byte('.')
	for _, c := range v[:at] {
		if c == '.' && last == '.' || c != '.' && !atom[c] {
			return false
		}
		last = c
	}
	return last != '.' && isHost(v[at+1:])
}

// atom are the characters of RFC 5321's atext.
var atom = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-/=?^_`{|}~") {
		set[c] = true
	}
	return set
}()

func isHost(v []byte) bool {
	last, label := byte('.'), 0
	for _, c := range v {
		switch {
		case c == '.':
			if last == '.' || last == '-' {
				return false
			}
			label = -1
		case c == '-' && last == '.', c != '-' && c-'0' > 9 && c|0x20-'a' > 25, label == 63:
			return false
		}
		last = c
		label++
	}
	return last != '.' && last != '-'
}

func isDateTime(v []byte) bool {
	if len(v) < 20 || !isDate(v[:10]) || v[10]|0x20 != 't' || v[13] != ':' || v[16] != ':' {
		return false
	}
	hour, minute, second := two(v[11:]), two(v[14:]), two(v[17:])
	if hour > 23 || minute > 59 || second > 60 {
		return false
	}
	zone := v[19:]
	if zone[0] == '.' {
		n := 1
		for n < len(zone) && zone[n]-'0' <= 9 {
			n++
		}
		if n == 1 || n == len(zone) {
			return false
		}
		zone = zone[n:]
	}
	offset, ok := isZone(zone)
	const day = 24 * 60
	return ok && (second < 60 || (hour*60+minute-offset+day)%day == day-1) // leap seconds end a day of UTC
}

// isZone also returns the offset in minutes.
func isZone(v []byte) (offset int, ok bool) {
	if len(v) == 1 {
		return 0, v[0]|0x20 == 'z'
	}
	if len(v) != 6 || v[3] != ':' || two(v[1:]) > 23 || two(v[4:]) > 59 {
		return 0, false
	}
	offset = two(v[1:])*60 + two(v[4:])
	if v[0] == '-' {
		return -offset, true
	}
	return offset, v[0] == '+'
}

func isDate(v []byte) bool {
	if len(v) != 10 || v[4] != '-' || v[7] != '-' {
		return false
	}
	high, low, month, day := two(v), two(v[2:]), two(v[5:]), two(v[8:])
	if high > 99 || low > 99 || month < 1 || month > 12 || day < 1 {
		return false
	}
	year := high*100 + low
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return day <= 29
	}
	return day <= int("\x1f\x1c\x1f\x1e\x1f\x1e\x1f\x1f\x1e\x1f\x1e\x1f"[month-1])
}

// two reads two digits; 100 if they are none.
func two(v []byte) int {
	a, b := v[0]-'0', v[1]-'0'
	if a > 9 || b > 9 {
		return 100
	}
	return int(a)*10 + int(b)
}
