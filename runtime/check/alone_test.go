package check

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// TestLET01WhatIsWrittenAsItIsIsOneValue: a Raw, a Literal or the text of an enum that is less or more than one value would be
// members, or the rest of a text, that nobody set. Each is written so that no check of what is written takes it.
func TestLET01WhatIsWrittenAsItIsIsOneValue(t *testing.T) {
	for _, text := range []string{`1,"q":2`, `1}`, `{},"q":{}`, `{}}`, `]`, `"a","q":"b"`, `"a`, `"a\"`, `{"a":1`, `[1`, `1:2`, `{"a":"}"},1`, `[]],[[`, " ", "x"} {
		for name, b := range map[string][]byte{"Raw": AppendRaw(nil, Raw(text)), "optional": AppendOptionalRaw([]byte("{"), "", Raw(text))[1:], "Value": AppendValue(nil, text), "Literal": AppendLiteral(nil, Literal(text))} {
			if json.Valid([]byte(`{"v":`+string(b)+`,"w":""}`)) || json.Valid([]byte(`[`+string(b)+`]`)) {
				t.Errorf("%s %q is written as %s", name, text, b)
			}
		}
	}
	if b := AppendRaw(nil, Raw{}); json.Valid(b) {
		t.Errorf("an empty Raw is written as %s", b)
	}
	if b := AppendOptionalRaw([]byte("{"), `"a":`, Raw{}); string(b) != "{" {
		t.Errorf("an empty Raw is written as %s, where it may be absent", b)
	}
	for _, text := range []string{`1`, `-1.5e+3`, `"a,b:}]\"\\"`, `{"a":[1,{"b":"]"}],"c":{}}`, ` [ 1 , 2 ] `, `null`, `true`} {
		if b := AppendRaw(nil, Raw(text)); string(b) != text {
			t.Errorf("%s is written as %s", text, b)
		}
	}
	for _, n := range []Literal{"1", "-0.5E+10", "123456789012345678901234567890"} {
		if b := AppendLiteral(nil, n); string(b) != string(n) {
			t.Errorf("%s is written as %s", n, b)
		}
	}
}

// TestVAL12TimesWithSecondsInTheirOffset: RFC 3339 has none, so that such an offset would be cut and the time another one.
func TestVAL12TimesWithSecondsInTheirOffset(t *testing.T) {
	zone := time.FixedZone("LMT", 3600+1)
	at := time.Date(2026, 7, 28, 9, 30, 0, 5, zone)
	if b := AppendTime(nil, at); string(b) != `"2026-07-28T08:29:59.000000005Z"` {
		t.Errorf("%v is written as %s", at, b)
	}
	at = time.Date(2026, 7, 28, 9, 30, 0, 0, time.FixedZone("", -5*3600-30*60))
	if b := AppendTime(nil, at); string(b) != `"2026-07-28T09:30:00-05:30"` {
		t.Errorf("%v is written as %s", at, b)
	}
}

// TestVAL02NamelessPropertyIsNamed: the property "" that is missing, or one too many, is not the whole value.
func TestVAL02NamelessPropertyIsNamed(t *testing.T) {
	required := Object{Names: []string{""}, Required: []string{""}}
	none := Object{Names: []string{"a"}, AdditionalProperties: Refuse}
	needs := Dependents{Keyword: "dependentRequired", Needs: []Need{{Key: "a", Names: []string{""}}}}
	for text, check := range map[string]func(*Decoder){
		`{}`: func(d *Decoder) {
			for f := d.Object(&required); f >= 0; f = d.Next() {
				d.Skip()
			}
		},
		`{"":1}`: func(d *Decoder) {
			for f := d.Object(&none); f >= 0; f = d.Next() {
				d.Skip()
			}
		},
		`{"a":1}`: func(d *Decoder) { d.Needs(&needs); d.Skip() },
	} {
		var d Decoder
		d.Reset([]byte(text), Limits{})
		check(&d)
		var all Violations
		if err := d.Finish(); !errors.As(err, &all) || len(all) != 1 || all[0].Instance != "/" || !strings.HasPrefix(err.Error(), "/: ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestVAL01MeasuredDurationsFitTheFormat: what time.Since returns has a fraction, which format duration has not.
func TestVAL01MeasuredDurationsFitTheFormat(t *testing.T) {
	for _, d := range []time.Duration{0, 1, 300 * time.Millisecond, 1500 * time.Millisecond, time.Minute - 1, time.Hour + 1, 36*time.Hour + 7*time.Second, 1<<63 - 1} {
		b := AppendDuration(nil, d)
		if text := strings.Trim(string(b), `"`); !format.Duration.Match(text) || DurationOf(text) != d.Round(time.Second).Truncate(time.Second) {
			t.Errorf("%v is written as %s", d, b)
		}
	}
}
