package wire

import (
	"strconv"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Millis is a number of milliseconds in a message; a negative one is written as null.
type Millis int64

// MillisOf returns d in whole milliseconds, -1 for a negative d.
func MillisOf(d time.Duration) Millis {
	if d < 0 {
		return -1
	}
	return Millis(d / time.Millisecond)
}

// AppendJSON appends m as a JSON number, or null.
func (m Millis) AppendJSON(b []byte) []byte {
	if m < 0 {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, int64(m), 10)
}

// Time is a time in a message: RFC 3339 in UTC with milliseconds.
type Time time.Time

// AppendJSON appends t as a JSON string. Package time has a fast path for RFC3339, but none for a layout with milliseconds: measured, that takes four times
// as long.
func (t Time) AppendJSON(b []byte) []byte {
	utc := time.Time(t).UTC()
	b = utc.AppendFormat(append(b, '"'), time.RFC3339)
	ms := utc.Nanosecond() / int(time.Millisecond)
	return append(b[:len(b)-len("Z")], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z', '"')
}

// ReadID takes a JSON-RPC id or progress token: a string or an integer of any size (CAN05). For anything else it returns the
// zero ID, which no peer can send.
func ReadID(d *check.Decoder) rpc.ID {
	id, err := rpc.ParseID(d.Alias(nil))
	if err != nil {
		return rpc.ID{}
	}
	return id
}
