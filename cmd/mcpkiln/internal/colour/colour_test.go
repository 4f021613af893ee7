package colour

import (
	"bytes"
	"os"
	"testing"
)

func TestColoursAreThoseOfDiagnostics(t *testing.T) {
	for text, want := range map[string]string{
		"a.yaml:1:2: error[unknown-key]: a key\n": "a.yaml:1:2: \x1b[1;31merror[unknown-key]:\x1b[m a key\n",
		"warning[x]: a key\n  a: b\n     ^\n":     "\x1b[1;33mwarning[x]:\x1b[m a key\n  a: b\n\x1b[32m     ^\x1b[m\n",
		"mcpkiln: an error[x]: no diagnostic\n":   "mcpkiln: an error[x]: no diagnostic\n",
	} {
		var b bytes.Buffer
		if n, err := Writer(&b).Write([]byte(text)); err != nil || n != len(text) || b.String() != want {
			t.Errorf("%q: %q, %d, %v, want %q", text, b.String(), n, err, want)
		}
	}
}

func TestColoursAreForTerminals(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if Wanted(w) || Wanted(&bytes.Buffer{}) {
		t.Error("a pipe gets colours")
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	t.Setenv("NO_COLOR", "1")
	if Wanted(null) {
		t.Error("NO_COLOR is not heeded")
	}
}
