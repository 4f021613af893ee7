//go:build linux

package rpc

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

// What a pipe has no room for is not taken, in part neither, and what is taken comes in order.
func TestTryWriteTakesWholeFramesOrNone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	lines := Lines(r, w, w, LineOptions{})
	client, server := Pipe()
	for name, ends := range map[string][2]Conn{"lines": {lines, lines}, "pipe": {client, server}} {
		frame := bytes.Repeat([]byte("x"), 100)
		taken := 0
		for ends[0].(Trying).TryWrite(append(frame, byte('a'+taken%26))) {
			taken++
		}
		if taken < 100 {
			t.Errorf("%s: %d taken", name, taken)
		}
		for i := range taken {
			got, err := ends[1].ReadFrame(nil)
			if want := append(frame, byte('a'+i%26)); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: %q, %v", name, got, err)
			}
		}
		if !ends[0].(Trying).TryWrite([]byte("again")) {
			t.Errorf("%s: there is room again", name)
		}
		if got, err := ends[1].ReadFrame(nil); err != nil || string(got) != "again" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		for _, frame := range []string{" ", strings.Repeat("x", DefaultMaxFrame+1)} {
			if ends[0].(Trying).TryWrite([]byte(frame)) {
				t.Errorf("%s: a frame of %d bytes is taken", name, len(frame))
			}
		}
		_ = ends[0].Close()
		if ends[0].(Trying).TryWrite(frame) {
			t.Errorf("%s: it is closed", name)
		}
	}
	_ = r.Close()
}

// A frame that is taken does not overtake one that is being written.
func TestTryWriteDoesNotOvertake(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := Lines(strings.NewReader(""), w, w, LineOptions{})
	large := bytes.Repeat([]byte("x"), 1<<20)
	written := make(chan error, 1)
	go func() { written <- c.WriteFrame(large) }()
	in := bufio.NewReader(r)
	if _, err := in.Peek(1); err != nil { // it is being written
		t.Fatal(err)
	}
	if c.(Trying).TryWrite([]byte("small")) {
		t.Error("taken")
	}
	if line, err := in.ReadBytes('\n'); err != nil || len(line) != len(large)+1 {
		t.Error(len(line), err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	if !c.(Trying).TryWrite([]byte("small")) {
		t.Error("not taken")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(in); err != nil || string(rest) != "small\n" {
		t.Errorf("%q, %v", rest, err)
	}
}

// Where nothing says that a write does not wait, nobody tries.
func TestTryWriteNeedsAPipe(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, blocking, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer blocking.Close()
	blocking.Fd()
	for name, w := range map[string]io.Writer{"a file": file, "a buffer": new(bytes.Buffer), "a pipe that blocks": blocking} {
		if Lines(strings.NewReader(""), w, nil, LineOptions{}).(Trying).TryWrite([]byte("1")) {
			t.Error(name)
		}
	}
}
