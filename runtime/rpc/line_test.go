package rpc

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
)

// linePieces are what may stand in strings of JSON, and lineSpaces between its tokens.
var (
	linePieces = []string{"a", "word ", `\n`, `\r`, `\"`, `\u2028`, "\u2028", "\u2029", "\u2027", "\u202a", "é", "€", "\u00e2\u0080", "😀", "\x7f"}
	lineSpaces = []string{"", "", "", " ", "\n", "\r", "\t", "\r\n"}
)

// rawObject is a JSON object as handlers may write it.
func rawObject(r *rand.Rand) []byte {
	space := func() string { return lineSpaces[r.IntN(len(lineSpaces))] }
	text := func() string {
		var b strings.Builder
		for range r.IntN(30) {
			piece := linePieces[0]
			if r.IntN(8) == 0 {
				piece = linePieces[r.IntN(len(linePieces))]
			}
			b.WriteString(piece)
		}
		return `"` + b.String() + `"`
	}
	b := []byte("{" + space() + `"a"` + space() + ":" + space() + text())
	for range r.IntN(20) {
		b = append(b, space()+","+space()+text()+":["+space()+text()+space()+",1]"...)
	}
	return append(b, space()+"}"...)
}

// rawFrame is a message of some kind with such an object.
func rawFrame(r *rand.Rand) []byte {
	object, id := rawObject(r), StringID("\u2028"+strings.Repeat("i", r.IntN(9)))
	method := "m\u2029" + strings.Repeat("m", r.IntN(9))
	switch r.IntN(6) {
	case 0:
		return AppendRequest(nil, id, method, object)
	case 1:
		return AppendNotification(nil, method, object)
	case 2:
		return AppendResult(nil, id, object)
	case 3:
		return AppendError(nil, id, &Error{Code: 1, Message: method, Data: object})
	case 4:
		return append(append(append([]byte{'['}, AppendResult(nil, id, object)...), ",\r\n"...), append(AppendResult(nil, IntID(1), object), ']')...)
	}
	return object
}

// lineWriters are the ways to write a frame.
var lineWriters = map[string]func(c Conn, frame []byte) error{
	"WriteFrame":  Conn.WriteFrame,
	"WriteFrames": func(c Conn, frame []byte) error { return c.(Batched).WriteFrames([][]byte{frame}) },
	"WriteLent":   func(c Conn, frame []byte) error { return c.(Lending).WriteLent(bytes.Clone(frame)) },
	"CopyFrame":   func(c Conn, frame []byte) error { return c.(Copying).CopyFrame(bytes.NewReader(frame)) },
	"TryWrite": func(c Conn, frame []byte) error {
		if !c.(Trying).TryWrite(frame) {
			return c.WriteFrame(frame)
		}
		return nil
	},
}

// Every frame is one line for every reader, however it is written and whoever wrote what is in it, and it means what it meant.
func TestEveryFrameIsOneLine(t *testing.T) {
	for name, write := range lineWriters {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe() // a pipe, because only there TryWrite takes anything
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			c := Lines(strings.NewReader(""), w, w, LineOptions{})
			in := Lines(r, w, nil, LineOptions{}).(*lines)
			random := rand.New(rand.NewPCG(7, 8))
			for range 1500 {
				frame := rawFrame(random)
				if err := write(c, frame); err != nil {
					t.Fatal(err)
				}
				line, err := in.readLine(nil)
				if err != nil {
					t.Fatal(err)
				}
				wantLine(t, string(line), frame)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// wantLine fails unless a line ends where the frame that it is ends, for every reader.
func wantLine(t *testing.T, line string, frame []byte) {
	t.Helper()
	if end := strings.IndexAny(line, "\n\r\u2028\u2029"); end != len(line)-1 || line[end] != '\n' {
		t.Fatalf("%q is more than one line, of %q", line, frame)
	}
	var got, want any
	if json.Unmarshal([]byte(line), &got) != nil || json.Unmarshal(frame, &want) != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%q means something else than %q", line, frame)
	}
}

// A frame is a line wherever what ends one stands in it: short ones are gone over by words, which overlap at the end.
func TestFramesOfEveryLengthAreLines(t *testing.T) {
	for n := range shortFrame + 40 {
		for _, end := range []string{"\n", "\r", "\u2028", "\u2029"} {
			for at := 0; at <= n; at += 1 + n/50 {
				frame := []byte(strings.Repeat("x", at) + end + strings.Repeat("y", n-at))
				want := strings.Repeat("x", at) + map[string]string{"\n": " ", "\r": " ", "\u2028": `\u2028`, "\u2029": `\u2029`}[end] + strings.Repeat("y", n-at)
				if got := string(appendLine([]byte("before\n"), frame, isPlainLine(frame))); got != "before\n"+want+"\n" {
					t.Fatalf("%q, want %q", got, want)
				}
				if isPlainLine(frame) {
					t.Fatalf("%q is no line", frame)
				}
			}
		}
		if plain := []byte(strings.Repeat("x", n)); string(appendLine(nil, plain, true)) != string(plain)+"\n" || !isPlainLine(plain) {
			t.Fatalf("%q is a line", plain)
		}
	}
}
