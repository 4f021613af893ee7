package check

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// formattedRound reads a text with read and returns it as write has it, or the violation.
func formattedRound[T any](text string, read func(*Decoder) T, write func([]byte, T) []byte) string {
	var v T
	if err := Decode([]byte(text), Limits{}, func(d *Decoder, v *T) { *v = read(d) }, &v); err != nil {
		return err.Error()
	}
	return string(write(nil, v))
}

// TestVAL05FormattedValuesAreWrittenAsTheyCame: a text with a Go type of its own keeps its meaning, and its format decides.
func TestVAL05FormattedValuesAreWrittenAsTheyCame(t *testing.T) {
	timeOf := func(d *Decoder) time.Time { return d.Time(&String{Format: format.DateTime}) }
	dateOf := func(d *Decoder) Date { return d.Date(&String{Format: format.Date}) }
	uuidOf := func(d *Decoder) UUID { return d.UUID(&String{Format: format.UUID}) }
	durationOf := func(d *Decoder) time.Duration { return d.Duration(&String{Format: format.Duration}) }
	bytesOf := func(d *Decoder) []byte { return d.Bytes(&String{Format: format.Byte}) }
	limit := ", allowed: a duration without years and months, at most 292 years long, which is the limit of this implementation"
	yearLimit := ", allowed: a date-time before the year 10000, which is the limit of this implementation"
	for _, c := range []struct{ got, want string }{
		{formattedRound(`"2026-07-28T09:30:00.25+02:00"`, timeOf, AppendTime), `"2026-07-28T09:30:00.25+02:00"`},
		{formattedRound(`"2016-12-31t23:59:60z"`, timeOf, AppendTime), `"2017-01-01T00:00:00Z"`},
		{formattedRound(`"9999-12-31T15:59:60.5-08:00"`, timeOf, AppendTime), `"9999-12-31T16:00:00.5-08:00"`},
		{formattedRound(`"9999-12-31T23:59:60Z"`, timeOf, AppendTime), `(root): type: found "9999-12-31T23:59:60Z"` + yearLimit},
		{formattedRound(`"9999-12-31T23:59:59-23:59"`, timeOf, AppendTime), `"9999-12-31T23:59:59-23:59"`},
		{formattedRound(`"0000-01-01T00:00:00+23:59"`, timeOf, AppendTime), `"0000-01-01T00:00:00+23:59"`},
		{formattedRound(`"2026-07-28"`, timeOf, AppendTime), `(root): format: found "2026-07-28", allowed: ` + format.DateTime.Describe()},
		{formattedRound(`"0001-02-09"`, dateOf, AppendDate), `"0001-02-09"`},
		{formattedRound(`"2026-02-29"`, dateOf, AppendDate), `(root): format: found "2026-02-29", allowed: ` + format.Date.Describe()},
		{formattedRound(`7`, dateOf, AppendDate), `(root): type: found 7, allowed: a string`},
		{formattedRound(`"123E4567-e89b-12d3-a456-426614174000"`, uuidOf, AppendUUID), `"123e4567-e89b-12d3-a456-426614174000"`},
		{formattedRound(`"PT0S"`, durationOf, AppendDuration), `"PT0S"`},
		{formattedRound(`"PT1H0M5S"`, durationOf, AppendDuration), `"PT1H0M5S"`},
		{formattedRound(`"P1DT90M"`, durationOf, AppendDuration), `"PT25H30M"`},
		{formattedRound(`"P2W"`, durationOf, AppendDuration), `"PT336H"`},
		{formattedRound(`"P0Y0M1D"`, durationOf, AppendDuration), `"PT24H"`},
		{formattedRound(`"P1M"`, durationOf, AppendDuration), `(root): type: found "P1M"` + limit},
		{formattedRound(`"P999999999999D"`, durationOf, AppendDuration), `(root): type: found "P999999999999D"` + limit},
		{formattedRound(`"AAH/"`, bytesOf, AppendBytes), `"AAH/"`},
		{formattedRound(`""`, bytesOf, AppendBytes), `""`},
		{formattedRound(`"AA\u003d="`, bytesOf, AppendBytes), `"AA=="`},
		{formattedRound(`"no base64"`, bytesOf, AppendBytes), `(root): format: found "no base64", allowed: ` + format.Byte.Describe()},
		{string(AppendBytes(nil, nil)), `""`},
		{string(AppendDuration(nil, -1500*time.Millisecond)), `"-PT2S"`},
		{string(AppendDuration(nil, time.Hour+time.Nanosecond)), `"PT1H"`},
		{string(AppendDuration(nil, 499*time.Millisecond)), `"PT0S"`},
		{string(AppendDuration(nil, 59*time.Second+500*time.Millisecond)), `"PT1M"`},
		{string(AppendDuration(nil, math.MaxInt64)), `"PT2562047H47M16S"`},
		{string(AppendDuration(nil, math.MinInt64)), `"-PT2562047H47M16S"`},
	} {
		if c.got != c.want {
			t.Errorf("got %s\nwant %s", c.got, c.want)
		}
	}
}

// TestVAL05UniqueItemsAreComparedAsWritten: two spellings of one value are two items, as the schema has it, also where their Go values are
// equal. Written again they are one, which the check of what is written says.
func TestVAL05UniqueItemsAreComparedAsWritten(t *testing.T) {
	unique := &Array{Unique: true}
	ids := func(d *Decoder, v *[]UUID) {
		*v = List(d, unique, func(d *Decoder, v *UUID) { *v = d.UUID(&String{Format: format.UUID}) })
	}
	times := func(d *Decoder, v *[]time.Time) {
		*v = List(d, unique, func(d *Decoder, v *time.Time) { *v = d.Time(nil) })
	}
	const repeated = ": uniqueItems: found "
	if got := twice(t, `["123E4567-e89b-12d3-a456-426614174000","123e4567-e89b-12d3-a456-426614174000"]`, ids, AppendUUID); !strings.Contains(got, repeated) {
		t.Errorf("UUIDs written again: %s", got)
	}
	if got := twice(t, `["2026-07-28T09:30:00Z","2026-07-28T09:30:00.0Z"]`, times, AppendTime); !strings.Contains(got, repeated) {
		t.Errorf("times written again: %s", got)
	}
}

// twice reads text, writes it again, and returns what is said of that.
func twice[T any](t *testing.T, text string, decode func(*Decoder, *[]T), write func([]byte, T) []byte) string {
	t.Helper()
	var list []T
	if err := Decode([]byte(text), Limits{}, decode, &list); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return fmt.Sprint(Decode(AppendSlice(nil, list, write), Limits{}, decode, &list))
}

// TestVAL12FormattedValuesAreTextToEncodingJSON: dates and UUIDs are the same to json.Marshal as to their encoder.
func TestVAL12FormattedValuesAreTextToEncodingJSON(t *testing.T) {
	type pair struct {
		Date Date
		UUID UUID
	}
	want := pair{Date{2026, time.July, 8}, UUIDOf("123e4567-e89b-12d3-a456-426614174000")}
	b, err := json.Marshal(want)
	if err != nil || string(b) != `{"Date":"2026-07-08","UUID":"123e4567-e89b-12d3-a456-426614174000"}` {
		t.Fatalf("got %s, %v", b, err)
	}
	var got pair
	if err := json.Unmarshal(b, &got); err != nil || got != want {
		t.Errorf("got %v, %v", got, err)
	}
	if json.Unmarshal([]byte(`{"Date":"today"}`), &got) == nil || json.Unmarshal([]byte(`{"UUID":"1"}`), &got) == nil {
		t.Error("what is no date or UUID is read as one")
	}
	if at := want.Date.Time(); !at.Equal(time.Date(2026, 7, 8, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("got %v", at)
	}
}

// TestLET01TextIsHeldToItsRule: what keeps nothing of a string says of it what String says.
func TestLET01TextIsHeldToItsRule(t *testing.T) {
	for _, r := range []*String{nil, {}, {Min: 3}, {Max: 4}, {Format: format.Byte}, {Format: format.URI}, {Min: 5, Format: format.Byte}, {Pattern: &format.Pattern{Source: "^A"}}} {
		for _, text := range []string{`""`, `"AAAA"`, `"AA\u003d="`, `"a:b"`, `"é é"`, `5`, `null`, `"\ud800"`, `"open`} {
			want := Decode([]byte(text), Limits{}, func(d *Decoder, _ *int) { d.String(r) }, new(int))
			got := Decode([]byte(text), Limits{}, func(d *Decoder, _ *int) { d.Text(r) }, new(int))
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s with %+v: got %v, want %v", text, r, got, want)
			}
		}
	}
}

// Without a rule, a formatted value is any text with the format.
func TestLET01FormattedValuesNeedNoRule(t *testing.T) {
	for text, decode := range map[string]func(d *Decoder){
		`"2026-07-28T09:30:00Z"`:                 func(d *Decoder) { d.Time(nil) },
		`"2026-07-28"`:                           func(d *Decoder) { d.Date(nil) },
		`"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`: func(d *Decoder) { d.UUID(nil) },
		`"P1DT2H"`:                               func(d *Decoder) { d.Duration(nil) },
		`"AQID"`:                                 func(d *Decoder) { d.Bytes(nil) },
	} {
		if err := decodeWith(text, decode); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if err := decodeWith(`"x y"`, decode); err == nil || !strings.Contains(err.Error(), "format") {
			t.Errorf("x y for %s: %v, want a violation of the format", text, err)
		}
	}
}

func decodeWith(text string, decode func(d *Decoder)) error {
	d := Get([]byte(text), Limits{})
	defer d.Put()
	decode(d)
	return d.Finish()
}
