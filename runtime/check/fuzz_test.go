package check_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/respell"
)

var scannerSeeds = []string{
	`null`, ` true `, `-0.0e+10`, `01`, `1.`, `.5`, `1e`, `+1`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`, `"\q"`, "\"\x7f\"", "\"\x1f\"", `[1,2,]`, `[,]`,
	`{"a":1,"b":[{}]}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{a:1}`, `{"a"}`, `{"a":}`, `[[[[]]]]`, `nul`, `"abc`, "\ufeff1", "\v1", "1\x00", `{"":{"":{}}}`, "[1\n,\t2\r]", `[1 2]`, `{"a":1 "b":2}`, `-`, `--1`, `1e+`, "\"\xff\"", `"\ud800\u0041"`,
}

// FuzzScannerAgreesWithEncodingJSON: VAL07 names all that encoding/json takes and the scanner refuses.
func FuzzScannerAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range scannerSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := check.Valid(data, check.Limits{})
		want := json.Valid(data)
		var limit *check.LimitError
		switch {
		case errors.As(err, &limit):
			if !justified(limit, data) {
				t.Errorf("%q is refused without reason: %v", data, err)
			}
		case (err == nil) != want:
			t.Errorf("%q: got %v, encoding/json says %v", data, err, want)
		}
	})
}

// justified says whether the text has what the error names.
func justified(e *check.LimitError, data []byte) bool {
	switch e.Reason {
	case check.InvalidUTF8:
		return !utf8.Valid(data)
	case check.LoneSurrogate:
		return strings.Contains(strings.ToLower(string(data)), `\ud`)
	case check.DuplicateKey:
		return strings.Count(string(data), ":") > 1
	case check.TooDeep:
		return strings.Count(string(data), "[")+strings.Count(string(data), "{") > 512
	case check.NumberTooLong:
		return len(data) > 1024
	}
	return false
}

// FuzzDecoderNeverPanics: whatever comes, decoders end, name a violation only inside the text, and take what they wrote.
func FuzzDecoderNeverPanics(f *testing.F) {
	for _, s := range append(scannerSeeds, goodOrder, `{"buyer":{"id":"b"},"lines":[{"sku":"a","count":1}],"tags":["x","x"],"z":[{}]}`,
		`{"kind":"circle","radius":1}`, `{"url":"a:b"}`, `{"sku":"a","count":1}`, `{"name":"a","children":[{"name":"b"}]}`, `{"name":"ab","email":"a@b.c"}`) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		stable(t, data, decodeOrderInput, appendOrderInput)
		stable(t, data, decodeBasket, appendBasket)
		stable(t, data, decodeShape, appendShape)
		stable(t, data, decodeOwner, func(b []byte, v *Owner) []byte { return (*v).appendOwner(b) })
		stable(t, data, decodeSource, func(b []byte, v *Source) []byte { return (*v).appendSource(b) })
		stable(t, data, decodeTarget, func(b []byte, v *Target) []byte { return (*v).appendTarget(b) })
		stable(t, data, decodeTree, appendTree)
		stable(t, data, decodeGrid, appendGrid)
		var c Contact
		_ = check.Decode(data, check.Limits{}, decodeContact, &c)
	})
}

func stable[T any](t *testing.T, data []byte, decode func(*check.Decoder, *T), encode func([]byte, *T) []byte) {
	t.Helper()
	var v, second T
	err := check.Decode(data, check.Limits{}, decode, &v)
	scanned := check.DecodeScanned(data, check.Limits{}, decode, &second) // of any text, without a panic
	if check.Valid(data, check.Limits{}) == nil && fmt.Sprint(scanned) != fmt.Sprint(err) {
		t.Errorf("%q: once scanned it has %v, else %v", data, scanned, err)
	}
	var third T
	outlined := check.DecodeValid(data, check.Limits{}, (*check.Decoder).Skip, decode, &third)
	if check.Valid(data, check.Limits{}) == nil && (fmt.Sprint(outlined) != fmt.Sprint(err) || err == nil && string(encode(nil, &third)) != string(encode(nil, &v))) {
		t.Errorf("%q: known to be valid it is %s with %v, else %s with %v", data, encode(nil, &third), outlined, encode(nil, &v), err)
	}
	var fourth T
	outlined = check.DecodeValid(data, check.Limits{}, func(d *check.Decoder) { decode(d, new(T)) }, decode, &fourth)
	if (outlined == nil) != (err == nil) || err == nil && string(encode(nil, &fourth)) != string(encode(nil, &v)) {
		t.Errorf("%q: after a look it is %s with %v, else %s with %v", data, encode(nil, &fourth), outlined, encode(nil, &v), err)
	}
	if kept, checked := finish(data, decode, false), finish(data, decode, true); fmt.Sprint(kept) != fmt.Sprint(checked) {
		t.Errorf("%q: to be kept it has %v, to be checked alone %v", data, kept, checked)
	}
	var all check.Violations
	if errors.As(err, &all) {
		for _, one := range all {
			if strings.Contains(one.Error(), "\n") {
				t.Errorf("%q: bad violation %q", data, one.Error())
			}
		}
	}
	if err != nil {
		return
	}
	if !json.Valid(data) {
		t.Fatalf("%q was accepted as a %T", data, v)
	}
	first := encode(nil, &v)
	var again T
	if err := check.Decode(first, check.Limits{}, decode, &again); err != nil {
		t.Fatalf("%q encodes as %q, which is refused: %v", data, first, err)
	}
	if second := encode(nil, &again); string(first) != string(second) {
		t.Fatalf("%q encodes as %q, then as %q", data, first, second)
	}
}

// finish decodes data into a value that is kept, or that nobody looks at.
func finish[T any](data []byte, decode func(*check.Decoder, *T), discard bool) error {
	d := check.Get(data, check.Limits{})
	defer d.Put()
	if discard {
		d.Discard()
	}
	decode(d, new(T))
	return d.Finish()
}

// FuzzTextsAgreeWithEncodingJSON: a text that is kept is the one that encoding/json reads, wherever it stands, and it is refused with what the scanner says.
func FuzzTextsAgreeWithEncodingJSON(f *testing.F) {
	for _, s := range []string{`plain`, `a\nb`, `\"\\\/\b\f\n\r\t`, `\u0437аказ\ud83d\ude00`, `a long text, and then\u0020an escape`, "заказ\xff\\nabcd", `\ud83dx`, `\x`, "\x1f", `\`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		data := []byte(`["` + string(text) + `",{"` + string(text) + `":"` + string(text) + `"}]`)
		var got []string
		err := check.Decode(data, check.Limits{}, func(d *check.Decoder, v *[]string) {
			check.List(d, nil, func(d *check.Decoder, s *string) {
				if d.Index() == 0 {
					*v = append(*v, d.String(nil))
					return
				}
				for key, value := range check.Map(d, nil, decodeText) {
					*v = append(*v, key, value)
				}
			})
		}, &got)
		valid := check.Valid(data, check.Limits{})
		if _, otherwise := err.(check.Violations); otherwise {
			return // the text ended the string
		}
		if fmt.Sprint(err) != fmt.Sprint(valid) {
			t.Fatalf("%q: kept it has %v, scanned %v", data, err, valid)
		}
		if err != nil {
			return
		}
		var want string
		if err := json.Unmarshal([]byte(`"`+string(text)+`"`), &want); err != nil {
			t.Fatal(err)
		}
		if len(got) != 3 || got[0] != want || got[1] != want || got[2] != want {
			t.Fatalf("%q: got %q", data, got)
		}
	})
}

// FuzzAppendString: a text of any length and with any escapes is written as one that encoding/json reads back, into any room.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "q\"b\\", "\x00\x1f\n\r\t", "1234567\n12345678\"\x01\x02\x03\x04\x05\x06\x07\x08", "é😀\u2028 beyond\tASCII", "bad\xffutf\xc3", "\x7f"} {
		f.Add(s, 0)
		f.Add(s+s+s, 9)
	}
	f.Fuzz(func(t *testing.T, s string, room int) {
		text := check.AppendString(append(make([]byte, 0, 1+room&0xff), '.'), s)
		var back string
		if err := json.Unmarshal(text[1:], &back); err != nil || text[0] != '.' || back != string([]rune(s)) {
			t.Errorf("%q is written as %s, and read back as %q, %v", s, text, back, err)
		}
	})
}

// FuzzLET14ViolationsOfOneMeaning: how a text is written, and in which order, changes nothing of what is found wrong with it.
func FuzzLET14ViolationsOfOneMeaning(f *testing.F) {
	many := []byte(`{"buyer":{"id":"b"},"lines":[],"tags":["b","a","c","c","b","a"]`)
	for i := range 50 {
		many = fmt.Appendf(many, `,"m%d":%d`, i, i)
	}
	for _, s := range append(scannerSeeds, string(many)+"}", `{"kind":"circle","radius":{"z":3e-1,"a":1.0},"side":1}`, `{"sku":1,"id":2,"x":3}`, `{"tags":["a","","" ]}`, `{"sku":"a","id":"b","count":-1.50}`,
		`{"children":[{"name":1.0,"x":0},{"y":1}],"next":{"next":{"b":1,"a":2}}}`, `{"size":[-1,"cm","in","cm",2.50],"none":1,"a":1,"b":2,"c":3,"d":4}`) {
		f.Add([]byte(s), uint64(len(s)))
	}
	f.Add([]byte("1e8888888"), uint64(3)) // beyond a limit
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		other, ok := respell.JSON(data, seed)
		if !ok || check.Valid(data, check.Limits{}) != nil || check.Valid(other, check.Limits{}) != nil {
			return
		}
		alike(t, data, other, decodeOrderInput)
		alike(t, data, other, decodeBasket)
		alike(t, data, other, decodeShape)
		alike(t, data, other, decodeOwner)
		alike(t, data, other, decodeSource)
		alike(t, data, other, decodeTarget)
		alike(t, data, other, decodeTree)
		alike(t, data, other, decodeGrid)
		alike(t, data, other, decodeContact)
		alike(t, data, other, decodeParcel)
	})
}

func alike[T any](t *testing.T, data, other []byte, decode func(*check.Decoder, *T)) {
	t.Helper()
	err, err2 := check.Decode(data, check.Limits{}, decode, new(T)), check.Decode(other, check.Limits{}, decode, new(T))
	if limit, limit2 := (*check.LimitError)(nil), (*check.LimitError)(nil); errors.As(err, &limit) && errors.As(err2, &limit2) && limit.Reason == limit2.Reason {
		return // at another offset
	}
	if fmt.Sprint(err) != fmt.Sprint(err2) {
		t.Errorf("%s\n%v\n%s\n%v", data, err, other, err2)
	}
	if wrong, ok := err.(check.Violations); ok {
		sameAsInFull(t, data, wrong, decode)
	}
	var within error
	d := check.Get(other, check.Limits{})
	defer d.Put()
	within = check.Within(d, decode, new(T))
	if err := d.Finish(); err != nil || fmt.Sprint(within) != fmt.Sprint(err2) {
		t.Errorf("%s\n%v\nwithin another text\n%v, %v", other, err2, within, err)
	}
}

// sameAsInFull: what is listed, and how much more there is said to be, is what one reading of the whole text in its canonical form finds.
func sameAsInFull[T any](t *testing.T, data []byte, wrong check.Violations, decode func(*check.Decoder, *T)) {
	t.Helper()
	text, ok := check.AppendCanonical(nil, data)
	if !ok {
		return
	}
	d := check.Get(text, check.Limits{NumberBytes: 1 << 20})
	defer d.Put()
	decode(d, new(T))
	if full := d.Finish(); fmt.Sprint(full) != wrong.Error() {
		t.Errorf("%s\n%v\nin full\n%v", data, wrong, full)
	}
}

// unexact are numbers that float64 makes equal to others: these underflow, overflow, or are rounded.
var unexact = []string{"0", "-0e-9", "1e-400", "-1e-400", "1e-401", "5e-324", "4.9e-324", "2e-324", "1e400", "-1e400", "1e401", "1.7976931348623157e308", "1.7976931348623158e308",
	"0.1", "0.1000000000000000000000000000000000000001", "0.1000000000000000055511151231257827", "-0.09999999999999999999999999999", "1", "1.00000000000000000000000001",
	"9007199254740992", "9007199254740993", "9007199254740992.0000000001", "9223372036854775807", "9223372036854775807.5", "9223372036854775808"}

// FuzzNumbersAgreeWithBigRat holds bounds, multipleOf, integers and equality against exact arithmetic.
func FuzzNumbersAgreeWithBigRat(f *testing.F) {
	for _, value := range unexact {
		for _, limit := range unexact {
			f.Add(value, limit)
		}
	}
	for _, s := range [][2]string{{"19.99", "0.01"}, {"0.1", "0.1"}, {"0.09999999999999999999", "0.1"}, {"1e2", "10"}, {"9007199254740993", "9007199254740992"},
		{"1e-5", "0.00001"}, {"-3.5", "0.5"}, {"123456789012345678901234567890", "10"}, {"1E400", "3"}, {"0e9", "7"}, {"9223372036854775808", "1"}, {"-9223372036854775808", "2"}, {"1.50", "1.5"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, value, limit string) {
		v, ok := exact(value)
		l, ok2 := exact(limit)
		if !ok || !ok2 {
			return
		}
		lf, _ := strconv.ParseFloat(limit, 64)
		c := v.Cmp(l)
		number(t, value, c >= 0, &check.Number{Has: check.Minimum, Min: lf, MinText: limit})
		number(t, value, c > 0, &check.Number{Has: check.ExclusiveMinimum, Min: lf, MinText: limit})
		number(t, value, c <= 0, &check.Number{Has: check.Maximum, Max: lf, MaxText: limit})
		number(t, value, c < 0, &check.Number{Has: check.ExclusiveMaximum, Max: lf, MaxText: limit})
		number(t, value, c == 0, &check.Number{Enum: []string{limit}})
		if short := strconv.FormatFloat(lf, 'g', -1, 64); !strings.ContainsAny(short, "IN") {
			s, _ := new(big.Rat).SetString(short)
			number(t, value, v.Cmp(s) >= 0, &check.Number{Has: check.Minimum, Min: lf})
		}
		if l.Sign() > 0 {
			number(t, value, new(big.Rat).Quo(v, l).IsInt(), &check.Number{MultipleOf: limit})
		}
		integer(t, value, v)
		equal := check.Values{JSON: []string{limit}}
		err := validate([]byte(value), check.Limits{}, func(d *check.Decoder, _ *int) { d.Raw(&equal) })
		if (err == nil) != (c == 0) {
			t.Errorf("%s equals %s: got %v", value, limit, err)
		}
	})
}

func exact(s string) (*big.Rat, bool) {
	if len(s) > 200 || !json.Valid([]byte(s)) || strings.Trim(s, "+-.0123456789eE") != "" {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 && len(strings.TrimLeft(s[i+1:], "+-0")) > 4 {
		return new(big.Rat), strings.Trim(s[:i], "-0.") == "" // zero, whatever its exponent
	}
	return new(big.Rat).SetString(s)
}

func number(t *testing.T, value string, want bool, rule *check.Number) {
	t.Helper()
	err := validate([]byte(value), check.Limits{}, func(d *check.Decoder, _ *int) { d.Literal(rule) })
	if (err == nil) != want {
		t.Errorf("%s under %+v: got %v, want %v", value, rule, err, want)
	}
	_, beyond := strconv.ParseFloat(value, 64)
	err = validate([]byte(value), check.Limits{}, func(d *check.Decoder, _ *int) { d.Float(rule) })
	if (err == nil) != (want && beyond == nil) {
		t.Errorf("%s under %+v, as a float64: got %v, want %v, %v", value, rule, err, want, beyond)
	}
}

func integer(t *testing.T, value string, v *big.Rat) {
	t.Helper()
	var got int64
	err := check.Decode([]byte(value), check.Limits{}, func(d *check.Decoder, n *int64) { *n = d.Int(nil) }, &got)
	want := v.IsInt() && v.Num().IsInt64()
	if (err == nil) != want || want && got != v.Num().Int64() {
		t.Errorf("%s as integer: got %d %v, want %v", value, got, err, v)
	}
	var f float64
	wantFloat, rangeErr := strconv.ParseFloat(value, 64)
	err = check.Decode([]byte(value), check.Limits{}, func(d *check.Decoder, n *float64) { *n = d.Float(nil) }, &f)
	if (err == nil) != (rangeErr == nil) || err == nil && f != wantFloat {
		t.Errorf("%s as number: got %v %v, want %v", value, f, err, wantFloat)
	}
}
