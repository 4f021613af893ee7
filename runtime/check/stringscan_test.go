package check

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// A string is scanned to the byte at which going over it byte by byte ends, or finds what is wrong: wherever in a block its escapes, long ones and
// short ones, and its mistakes are.
func TestVAL07AStringEndsWhereItsBytesSay(t *testing.T) {
	pieces := []string{"a", "plain words ", `\n`, `\"`, `\\`, `\\\"`, `\u0041`, `\u003c`, `\ud83d\ude00`, "é", "😀", "31 bytes of text without escapes", "33 bytes of text, without escapes"}
	r := rand.New(rand.NewPCG(7, 8))
	ended, wrong := 0, 0
	for range 30_000 {
		some := pieces[:3+r.IntN(len(pieces)-2)]
		text := []byte(`"` + randomString(r, r.IntN(300), some) + `"` + randomString(r, r.IntN(80), some))
		for range r.IntN(3) {
			text[1+r.IntN(len(text)-1)] = []byte{'"', '\\', 1, '\n', 0xff, 0xe2, 'u', '#'}[r.IntN(8)]
		}
		end, mistake := stringEndByBytes(text)
		d := Get(text, Limits{})
		d.Skip()
		at, found := d.pos-1, false
		var syntax *SyntaxError
		var limit *LimitError
		switch err := d.err; {
		case errors.As(err, &syntax):
			at, found = syntax.Offset, true
		case errors.As(err, &limit):
			at, found = limit.Offset, true
		}
		if at != end || found != mistake {
			t.Fatalf("%q: ends at %d, %v; want %d, wrong is %v", text, at, d.err, end, mistake)
		}
		d.Put()
		if mistake {
			wrong++
		} else {
			ended++
		}
	}
	if ended < 1000 || wrong < 1000 {
		t.Errorf("%d ended, %d were wrong", ended, wrong)
	}
}

// stringEndByBytes returns where the string at the beginning of a text ends, or where it is wrong.
func stringEndByBytes(text []byte) (end int, wrong bool) {
	for i := 1; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			return i, false
		case c < ' ':
			return i, true
		case c == '\\' && i+1 < len(text) && unescapes[text[i+1]] != 0:
			i += 2
		case c == '\\' && (i+1 == len(text) || text[i+1] != 'u'):
			return i + 1, true
		case c == '\\':
			first, bad := hex4(text, i+2)
			if bad >= 0 {
				return bad, true
			}
			if i += 6; utf16.IsSurrogate(first) {
				if i+1 >= len(text) || text[i] != '\\' || text[i+1] != 'u' {
					return i - 6, true
				}
				second, bad := hex4(text, i+2)
				if bad >= 0 || utf16.DecodeRune(first, second) == utf8.RuneError {
					return i - 6, true
				}
				i += 6
			}
		default:
			character, size := utf8.DecodeRune(text[i:])
			if character == utf8.RuneError && size == 1 {
				return i, true
			}
			i += size
		}
	}
	return len(text), true
}

// A string is unescaped as encoding/json does it, into whatever room there is.
func TestVAL07UnescapingNeedsNoRoom(t *testing.T) {
	pieces := []string{`\u0416`, `\ud83d\ude00`, `\u6ce8`, "a", "words ", `\n`, `\"`, "é"}
	r := rand.New(rand.NewPCG(9, 10))
	for range 5000 {
		text := randomString(r, r.IntN(300), pieces[:1+r.IntN(len(pieces))])
		want := ""
		if err := json.Unmarshal([]byte(`"`+text+`"`), &want); err != nil {
			t.Fatal(err)
		}
		for _, data := range []string{text, text + `", "more"`} {
			if got, end, _ := unescape(make([]byte, 0, r.IntN(40)), []byte(data), 0); string(got) != want || end != len(text) {
				t.Fatalf("%s: %q up to %d, want %q up to %d", text, got, end, want, len(text))
			}
		}
	}
}
