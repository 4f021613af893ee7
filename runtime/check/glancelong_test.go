package check

import (
	"strings"
	"testing"
)

// A long text before the member that is looked for is judged on the way, and then not again.
func TestALongTextBeforeATagIsReadOnce(t *testing.T) {
	long := strings.Repeat(`a line of \"text\" é\n`, 50)
	for text, once := range map[string]bool{
		`{"text":"` + long + `","type":"t"}`:                     true,
		`{"text":"` + long + `\u0041","type":"t"}`:               false, // what is rare is left to whoever reads the object
		`{"text":"` + long + "\xff" + `","type":"t"}`:            false,
		`{"text":"` + long + `\x","type":"t"}`:                   false,
		`{"text":"` + strings.Repeat("a", 200) + `","type":"t"}`: false, // it is short
	} {
		d := Get([]byte(text), Limits{})
		at, ok := d.glanceAt("type", signature([]byte("type")))
		if want := strings.LastIndex(text, `"t"`); !ok || at != want {
			t.Errorf("%q: found at %d, %v, want %d", text, at, ok, want)
		}
		if known := d.hardString.end > 0; known != once {
			t.Errorf("%q: its end is known: %v, want %v", text, known, once)
		}
		d.Put()
	}
	for _, open := range []string{`{"text":"` + long + "\x01" + `","type":"t"}`, `{"text":"` + long, `{"text":"` + long + `\`, `{"text":"` + long + `\"`} {
		d := Get([]byte(open), Limits{})
		if at, _ := d.glanceAt("type", signature([]byte("type"))); at >= 0 || d.hardString.end > 0 {
			t.Errorf("%q: found at %d", open, at)
		}
		d.Put()
	}
}
