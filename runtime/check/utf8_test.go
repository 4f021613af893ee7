package check

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// holdUTF8 holds the windows against the standard library: for all of a text, and for a part, which must not depend on what is around it.
func holdUTF8(t *testing.T, text string) {
	t.Helper()
	data := []byte(text)
	valid := notText(data, 0, len(data))
	for _, before := range []string{"\"", strings.Repeat("\n\xff", 20) + "漢"} {
		part := append(append([]byte(before), text...), "\x80\x00é"...)
		if got := notText(part, len(before), len(before)+len(text)) - len(before); got != valid {
			t.Fatalf("%q: text up to %d, as a part up to %d", text, valid, got)
		}
	}
	control := func(r rune) bool { return r < ' ' }
	if want := strings.ToValidUTF8(text, "\x00"); strings.IndexFunc(want, control) < 0 {
		counted, _ := validText(data, 0, len(data))
		if want := utf8.RuneCountInString(text); valid != len(text) || runes(text) != want || runes(data) != want || counted != want {
			t.Fatalf("%q: valid up to %d of %d, %d and %d characters", text, valid, len(text), runes(text), counted)
		}
		return
	}
	if r, size := utf8.DecodeRuneInString(text[valid:]); !utf8.ValidString(text[:valid]) || strings.IndexFunc(text[:valid], control) >= 0 ||
		!control(r) && (r != utf8.RuneError || size != 1) {
		t.Fatalf("%q: stops being text at %d", text, valid)
	}
}

func FuzzVAL07UTF8(f *testing.F) {
	for _, s := range []string{"Заказ принят", "注文は明日", "a😀b\xed\xa0\x80", "\xc0\x80", "\xe0\x80\x80", "é\xc3", "\xf4\x90\x80\x80", "é\x1f", "\x00é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { holdUTF8(t, text) })
}

// TestVAL07UTF8 has every sequence of two bytes, and every first three with some fourth, in a word and where two windows overlap.
func TestVAL07UTF8(t *testing.T) {
	tails := []string{"éя漢字abc", "éя漢字abc" + strings.Repeat("ы", 16)}
	for first := 0x80; first < 0x100; first++ {
		for second := 0; second < 0x100; second++ {
			for _, rest := range []string{"", "\x80", "\x9f\xbf", "\xbfa", "ab", "\x1fa"} {
				for _, at := range []int{0, 3, 60, 61, 62, 63} {
					holdUTF8(t, strings.Repeat("x", at)+string([]byte{byte(first), byte(second)})+rest+tails[(second+at)%2])
				}
			}
		}
	}
}

// TestVAL07ControlsAreNoText has one control in a text of many words.
func TestVAL07ControlsAreNoText(t *testing.T) {
	for _, around := range []string{"y", "é", "漢"} {
		for at := range 80 {
			holdUTF8(t, strings.Repeat(around, at)+"\x1f"+strings.Repeat(around, 80-at))
		}
	}
}
