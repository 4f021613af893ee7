package check_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

const goodOrder = `{"symbol":"ACME","side":"buy","quantity":100,"limit":19.99,"note":null}`

// lines decodes and returns what Error says, or "" when nothing is wrong.
func lines[T any](t *testing.T, decode func(*check.Decoder, *T), data string) (T, string) {
	t.Helper()
	var v T
	err := check.Decode([]byte(data), check.Limits{}, decode, &v)
	if err == nil {
		return v, ""
	}
	return v, err.Error()
}

// validate decodes data only to see whether it is valid.
func validate[T any](data []byte, lim check.Limits, decode func(*check.Decoder, *T)) error {
	return check.Decode(data, lim, decode, new(T))
}

func TestSampleRoundTrips(t *testing.T) {
	roundTrip(t, decodeOrderInput, appendOrderInput, goodOrder, `{"symbol":"ACME","side":"buy","quantity":100,"limit":19.99,"venue":"XNYS","note":null}`)
	roundTrip(t, decodeOrderInput, appendOrderInput, `{"note":"a\u00e9\ud83d\ude00\n","memo":null,"venue":"","quantity":1e2,"side":"sell","symbol":"A"}`,
		`{"symbol":"A","side":"sell","quantity":100,"venue":"","note":"aé😀\n","memo":null}`)
	same := func(s string) (string, string) { return s, s }
	in, out := same(`{"buyer":{"id":"b"},"lines":[{"sku":"a","count":1},{"sku":"b","count":2}],"tags":["x","y"],"prices":{"a":1.5,"b":2},"stock":{"s":{"sku":"s","count":9}},"parent":{"id":"p"},"more":[1,{"x":null}],"z":1.0}`)
	roundTrip(t, decodeBasket, appendBasket, in, out)
	in, out = same(`{"buyer":{"id":"b"},"lines":[{"sku":"a","count":1}],"tags":[],"prices":{}}`)
	roundTrip(t, decodeBasket, appendBasket, in, out)
	in, out = same(`{"kind":"circle","radius":2.5}`)
	roundTrip(t, decodeShape, appendShape, in, out)
	roundTrip(t, decodeShape, appendShape, `{"side":1,"kind":"square"}`, `{"kind":"square","side":1}`)
	in, out = same(`{"name":"a","children":[{"name":"b","children":[],"next":{"name":"c"}}]}`)
	roundTrip(t, decodeTree, appendTree, in, out)
	in, out = same(`[[1,2],[],[3]]`)
	roundTrip(t, decodeGrid, appendGrid, in, out)
}

func roundTrip[T any](t *testing.T, decode func(*check.Decoder, *T), encode func([]byte, *T) []byte, in, want string) {
	t.Helper()
	v, problems := lines(t, decode, in)
	if problems != "" {
		t.Errorf("%s\nis refused: %s", in, problems)
		return
	}
	if got := string(encode(nil, &v)); got != want {
		t.Errorf("%s\nencodes as %s\nwant       %s", in, got, want)
	}
	if err := validate([]byte(want), check.Limits{}, decode); err != nil {
		t.Errorf("what was encoded is refused: %v", err)
	}
}

func TestUnionsByKindKeyAndTrial(t *testing.T) {
	o, _ := lines(t, decodeOwner, `"ann"`)
	if o != OwnerName("ann") {
		t.Errorf("got %#v", o)
	}
	if o, _ = lines(t, decodeOwner, `7.0`); o != OwnerID(7) {
		t.Errorf("got %#v", o)
	}
	s, _ := lines(t, decodeSource, `{"x":{"url":1},"data":"d"}`)
	if in, ok := s.(*Inline); !ok || in.Data != "d" {
		t.Errorf("got %#v", s)
	}
	target, problems := lines(t, decodeTarget, `{"id":"b"}`)
	if b, ok := target.(*Buyer); !ok || b.ID != "b" || problems != "" {
		t.Errorf("got %#v %s", target, problems)
	}
	if target, problems = lines(t, decodeTarget, ` {"sku":"b","count":3} `); problems != "" {
		t.Error(problems)
	}
	if l, ok := target.(*Line); !ok || l.Count != 3 {
		t.Errorf("got %#v", target)
	}
}

func TestUnknownPropertiesAreKept(t *testing.T) {
	b, problems := lines(t, decodeBasket, `{"a\/b":{"deep":[1e400]},"lines":[{"sku":"a","count":1,"dropped":true}],"buyer":{"id":""}}`)
	if problems != "" || string(b.AdditionalProperties["a/b"]) != `{"deep":[1e400]}` || len(b.AdditionalProperties) != 1 {
		t.Errorf("got %q %s", b.AdditionalProperties, problems)
	}
}

func TestStringsDoNotAliasTheData(t *testing.T) {
	data := []byte(goodOrder)
	var v OrderInput
	if err := check.Decode(data, check.Limits{}, decodeOrderInput, &v); err != nil {
		t.Fatal(err)
	}
	clear(data)
	if v.Symbol != "ACME" || v.Side != SideBuy {
		t.Errorf("got %q %q", v.Symbol, v.Side)
	}
}

func TestVAL07EachLimitIsNamed(t *testing.T) {
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	cases := []struct {
		name, data string
		limits     check.Limits
		reason     check.Reason
		says       string
	}{
		{"depth", deep, check.Limits{}, check.TooDeep, "deeper than the limit of 512"},
		{"bytes", `"123456"`, check.Limits{Bytes: 7}, check.TooLong, "longer than the limit of 7 bytes"},
		{"number", "1" + strings.Repeat("0", 1024), check.Limits{}, check.NumberTooLong, "number longer than the limit of 1024 bytes at byte 0"},
		{"utf-8", "[\"a\xff\"]", check.Limits{}, check.InvalidUTF8, "not valid UTF-8 at byte 3"},
		{"surrogate", `"\ud800x"`, check.Limits{}, check.LoneSurrogate, "half of a surrogate pair at byte 1"},
		{"low surrogate", `"\udc00\ud800"`, check.Limits{}, check.LoneSurrogate, "half of a surrogate pair"},
		{"duplicate", `[{"a":1,"b":{"x":1,"\u0078":2}}]`, check.Limits{}, check.DuplicateKey, `the repeated key "x" at byte 19`},
	}
	for _, c := range cases {
		err := check.Valid([]byte(c.data), c.limits)
		var limit *check.LimitError
		if !errors.As(err, &limit) || limit.Reason != c.reason || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want reason %d and %q", c.name, err, c.reason, c.says)
		}
	}
}

func TestVAL07ManyKeysAreComparedByHash(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"k":0`)
	for i := range 20_000 {
		b.WriteString(`,"` + strings.Repeat("k", i%7) + string(check.AppendInt(nil, int64(i))) + `":0`)
	}
	if err := check.Valid([]byte(b.String()+"}"), check.Limits{}); err != nil {
		t.Error(err)
	}
	if err := check.Valid([]byte(b.String()+`,"k":1}`), check.Limits{}); err == nil {
		t.Error("a key repeated among the first few was accepted")
	}
	if err := check.Valid([]byte(b.String()+`,"19999":0,"kk19999":1}`), check.Limits{}); err == nil {
		// 19999%7 = 0: the key is there without a prefix
		t.Error("a key repeated among many was accepted")
	}
}

func TestVAL07DeepNestingInTypedValues(t *testing.T) {
	data := strings.Repeat(`{"name":"","next":`, 600) + "null" + strings.Repeat("}", 600)
	var v Tree
	err := check.Decode([]byte(data), check.Limits{}, decodeTree, &v)
	var limit *check.LimitError
	if !errors.As(err, &limit) || limit.Reason != check.TooDeep {
		t.Errorf("got %v", err)
	}
}

func TestVAL07ViolationsAreBounded(t *testing.T) {
	data := `{"buyer":{"id":"b"},"lines":[` + strings.Repeat(`{},`, 99) + `{}]}`
	var v Basket
	err := check.Decode([]byte(data), check.Limits{}, decodeBasket, &v)
	var all check.Violations
	if !errors.As(err, &all) || len(all) != 33 || !strings.Contains(all[32].Error(), "168 further violations") {
		t.Errorf("got %d: %v", len(all), err)
	}
}

func TestVAL07HugeExponentIsRefusedWhereExactnessIsNeeded(t *testing.T) {
	rule := check.Number{Has: check.Minimum | check.ExclusiveMaximum, Min: 0, Max: 1, MultipleOf: "0.1"}
	decode := func(d *check.Decoder, v *float64) { *v = d.Float(&rule) }
	var v float64
	err := check.Decode([]byte(`1e-99999999999`), check.Limits{}, decode, &v)
	var limit *check.LimitError
	if !errors.As(err, &limit) || limit.Reason != check.NumberTooLarge {
		t.Errorf("got %v", err)
	}
}

func TestSyntaxErrorsNamePlaceAndExpectation(t *testing.T) {
	for data, want := range map[string]string{
		``:               "found the end at byte 0, expected a value",
		`{"a" 1}`:        "found '1' at byte 5, expected ':'",
		`[1,]`:           "found ']' at byte 3, expected a value",
		`{"a":1,}`:       "found '}' at byte 7, expected a key in quotes",
		`01`:             "found '1' at byte 1, expected no digit after a leading zero",
		"\"a\nb\"":       `found '\n' at byte 2, expected an escape for this control character`,
		`tru`:            "found the end at byte 3, expected true",
		`1 2`:            "found '2' at byte 2, expected the end",
		`"a`:             "found the end at byte 2, expected the closing quote of a string",
		`"\x"`:           `found 'x' at byte 2, expected an escape`,
		`-`:              "found the end at byte 1, expected a digit",
		`{"a":{"b":nul}`: "found '}' at byte 13, expected null",
	} {
		err := check.Valid([]byte(data), check.Limits{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", data, err, want)
		}
	}
}

func TestAllocationsOfASmallInput(t *testing.T) {
	data := []byte(goodOrder)
	var v OrderInput
	var d check.Decoder // a pooled one may be dropped under the race detector
	n := testing.AllocsPerRun(200, func() {
		v = OrderInput{}
		d.Reset(data, check.Limits{})
		decodeOrderInput(&d, &v)
		if err := d.Finish(); err != nil {
			t.Fatal(err)
		}
	})
	if n > 4 {
		t.Errorf("%v allocations, want at most 4", n)
	}
	b := make([]byte, 0, 512)
	if n := testing.AllocsPerRun(200, func() { b = appendOrderInput(b[:0], &v) }); n > 0 {
		t.Errorf("encoding: %v allocations", n)
	}
}

func TestTimesAreDecodedAndEncoded(t *testing.T) {
	for in, want := range map[string]string{
		`"2026-07-28T09:30:00Z"`:          `"2026-07-28T09:30:00Z"`,
		`"2026-07-28t09:30:00.250+02:00"`: `"2026-07-28T09:30:00.25+02:00"`,
		`"1998-12-31T23:59:60z"`:          `"1999-01-01T00:00:00Z"`,
	} {
		v, problems := lines(t, func(d *check.Decoder, v *time.Time) { *v = d.Time(nil) }, in)
		if got := string(check.AppendTime(nil, v)); got != want || problems != "" {
			t.Errorf("%s: got %s %s, want %s", in, got, problems, want)
		}
	}
	if _, problems := lines(t, func(d *check.Decoder, v *time.Time) { *v = d.Time(nil) }, `"yesterday"`); problems == "" {
		t.Error("yesterday was accepted")
	}
}
