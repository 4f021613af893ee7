package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// textPieces are what strings in random texts are made of: what has an escape, what ends a block, and what is rare.
var textPieces = []string{"a", "plain words ", `"`, `\`, "\n", "\t", "\r", "#", "]", "\x01", "é", "\u2028", "€", "😀", "/", strings.Repeat("x", 30), strings.Repeat("y", 31), strings.Repeat("z", 33)}

func randomString(r *rand.Rand, n int, pieces []string) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// What a Decoder appends as a string of the text that it has read is what AppendString makes of the text, wherever escapes stand in it and whatever
// it remembers of them.
func TestAppendTextOfADecoderIsTheText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	remembered := 0
	for range 3000 {
		value := map[string]any{}
		for i := range 1 + r.IntN(4) {
			pieces := textPieces
			if r.IntN(2) == 0 {
				pieces = textPieces[:7]
			}
			value[fmt.Sprint(i)] = []any{randomString(r, r.IntN(1200), pieces), r.IntN(10)}
		}
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		if err := e.Encode(value); err != nil {
			t.Fatal(err)
		}
		text := out.Bytes()
		d := Get(text, Limits{})
		d.Discard()
		d.MarkEscapes()
		d.Skip()
		if err := d.Finish(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		remembered += len(d.marks.at)
		got := d.AppendText([]byte("before"))
		d.Put()
		if want := "before" + string(AppendString(nil, string(text))); string(got) != want {
			t.Fatalf("%s\nbecomes %s\nwant    %s", text, got, want)
		}
	}
	if remembered < 10_000 {
		t.Errorf("only %d escapes were remembered", remembered)
	}
}

// To remember escapes changes nothing of what is found.
func TestMarkEscapesChangesNoVerdict(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		text := []byte(`["` + strings.ReplaceAll(randomString(r, 200+r.IntN(300), []string{"a", "plain ", `\n`, `\"`, `\\`, `\u0041`}), "\n", " ") + `"]`)
		for range r.IntN(3) { // something wrong
			text[2+r.IntN(len(text)-2)] = []byte{'"', '\\', 1, 0xff, 0xe2, 'u', ']', '#'}[r.IntN(8)]
		}
		var found [2]string
		for i := range found {
			d := Get(text, Limits{})
			if i == 1 {
				d.MarkEscapes()
			}
			d.Skip()
			found[i] = fmt.Sprint(d.Finish())
			d.Put()
		}
		if found[0] != found[1] {
			t.Fatalf("%q: %s, with marks %s", text, found[0], found[1])
		}
	}
}

// AppendText and AppendString write what encoding/json does, without HTML and line separators, however much room there is.
func TestAppendTextIsAppendString(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		s := randomString(r, r.IntN(300), append(textPieces, "\xff", "\xe2\x80"))
		if text, str := AppendText(nil, []byte(s)), AppendString(nil, s); string(text) != string(str) {
			t.Fatalf("%q: %s and %s", s, text, str)
		}
		before := make([]byte, r.IntN(3), 3+r.IntN(700))
		if in := AppendString(before, s)[len(before):]; string(in) != string(AppendString(nil, s)) {
			t.Fatalf("%q becomes %s where there is other room", s, in)
		}
		var got string
		if err := json.Unmarshal(AppendString(nil, s), &got); err != nil || got != strings.ToValidUTF8(string([]rune(s)), "\uFFFD") {
			t.Fatalf("%q is read as %q, %v", s, got, err)
		}
	}
}
