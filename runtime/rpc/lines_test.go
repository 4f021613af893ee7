package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// readAll returns what ReadFrame says until it ends, one line each.
func readAll(c Conn) string {
	var got []string
	var buf []byte
	for {
		frame, err := c.ReadFrame(buf)
		var tooLarge *FrameError
		switch {
		case errors.As(err, &tooLarge):
			got = append(got, fmt.Sprintf("over %d", tooLarge.Limit))
		case err != nil:
			if broken := (*BrokenOffError)(nil); errors.As(err, &broken) != (err != io.EOF && errors.Is(err, io.EOF)) {
				got = append(got, "a message that is broken off is no end of input")
			}
			return strings.Join(append(got, err.Error()), "\n")
		default:
			got = append(got, string(frame))
		}
		buf = frame
	}
}

func TestLinesRead(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for _, c := range []struct{ name, input, want string }{
		{"lines", "{}\n[1]\n", "{}\n[1]\nEOF"},
		{"no last newline", "{}\n[1]", "{}\n[1]\nEOF"},
		{"broken off", "{}\n {\"a\":", "{}\nrpc: the input ended within a message, after 6 bytes of it"},
		{"a batch that is broken off", "[{},", "rpc: the input ended within a message, after 4 bytes of it"},
		{"whole, but no JSON", `{"a":1,}`, `{"a":1,}` + "\nEOF"},
		{"more than a message", `{"a":1} x`, `{"a":1} x` + "\nEOF"},
		{"no message, and no last newline", "{}\nWelcome", "{}\nWelcome\nEOF"},
		{"CRLF", "{}\r\n[1]\r\n", "{}\n[1]\nEOF"},
		{"blank lines", "\n\r\n \t\n{}\n\n\n", "{}\nEOF"},
		{"nothing", "", "EOF"},
		{"spaces at the end", "{}\n  ", "{}\nEOF"},
		{"just fits", strings.Repeat("x", 1000) + "\r\n{}\n", strings.Repeat("x", 1000) + "\n{}\nEOF"},
		{"too long by one", strings.Repeat("x", 1001) + "\n{}\n", "over 1000\n{}\nEOF"},
		{"longer than any buffer", long + "\n{}\n" + long + "\n[]", "over 1000\n{}\nover 1000\n[]\nEOF"},
		{"too long at the end", "{}\n" + long, "{}\nover 1000\nEOF"},
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(c.input), "bytes": iotest.OneByteReader(strings.NewReader(c.input)),
		} {
			if got := readAll(Lines(r, io.Discard, nil, LineOptions{MaxFrame: 1000})); got != c.want {
				t.Errorf("%s, %s: got %.200q", c.name, name, got)
			}
		}
	}
	if got := readAll(Lines(strings.NewReader(long+"\n{}"), io.Discard, nil, LineOptions{})); got != long+"\n{}\nEOF" {
		t.Errorf("a frame of several chunks: %d bytes", len(got))
	}
	broken := iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("{}\n")))
	if got := readAll(Lines(broken, io.Discard, nil, LineOptions{})); got != iotest.ErrTimeout.Error() {
		t.Errorf("half a line and an error: %q", got)
	}
}

// A frame above the limit tells its kind and id, wherever they are, so that the call or question which waits for it ends (CAN30).
func TestCAN12LargeFrameTellsItsID(t *testing.T) {
	fill := strings.Repeat("x", 1<<20)
	for frame, want := range map[string]Message{
		`{"jsonrpc":"2.0","id":77,"method":"m","params":{"id":1,"a":"` + fill + `"}}`: {Kind: KindRequest, ID: IntID(77)},
		`{"id":"a","jsonrpc":"2.0","result":{"a":"` + fill + `"}}`:                    {Kind: KindResult, ID: StringID("a")},
		`{"method":"m","params":{"a":"` + fill + `"},"id":77}`:                        {Kind: KindRequest, ID: IntID(77)},
		`{"result":{"id":1,"a":[{"id":2}],"b":"\\\"}` + fill + `\\"},"id":"a"}`:       {Kind: KindResult, ID: StringID("a")},
		`{"error":"` + fill[:MaxIDBytes-2] + `\"` + fill + `\\","id":3,"more":[]}`:    {Kind: KindError, ID: IntID(3)},
		`{"result":{"a":"` + fill + `"},"id":3,"id":4}`:                               {},
		`{"result":{"a":"` + fill + `","id":3}`:                                       {},
		`{"result":{},` + strings.Repeat(`"a":1,`, 1<<18) + `"id":3}`:                 {},
		`{"method":"m","params":{"a":"` + fill + `"}}`:                                {Method: []byte("m")},
		`[{"id":1,"method":"m","params":"` + fill + `"}]`:                             {},
		`{"id":"` + fill + `","method":"m"}`:                                          {Method: []byte("m")},
		fill:                                                                          {},
	} {
		for _, limit := range []int{100, 1 << 19} {
			_, err := Lines(strings.NewReader(frame+"\n"), io.Discard, nil, LineOptions{MaxFrame: limit}).ReadFrame(nil)
			large, ok := errors.AsType[*FrameError](err)
			if !ok || large.Begun.Kind != want.Kind || large.Begun.ID != want.ID || string(large.Begun.Method) != string(want.Method) {
				t.Errorf("%.40s: %v", frame, err)
			}
		}
	}
}

// What is kept of a frame that is too large ends anywhere, and what is refused may, too: an id that came before stays.
func TestCAN05VAL07TheIDBeforeACutStays(t *testing.T) {
	for length := range 40 {
		var s Skim
		s.Add([]byte(`{"id":3,"result":{},"p":"` + strings.Repeat("x", length) + `",` + strings.Repeat(`"member": 1234567 ,`, maxSkim/10) + `"z":0}`))
		if m := s.message(); m.Kind != KindResult || m.ID != IntID(3) {
			t.Errorf("after %d bytes: %+v", length, m)
		}
	}
	for end, want := range map[string]ID{``: IntID(3), `"i`: IntID(3), `"more"`: IntID(3), `"more":`: IntID(3), `"id":`: {}, `"id":3`: {}, `"more":}`: {}} {
		if m, err := Parse([]byte(`{"id":3,"result":{},`+end), check.Limits{}); err == nil || m.ID != want {
			t.Errorf("%q: %+v, %v", end, m, err)
		}
	}
}

// An endless line costs no more memory than the limit.
func TestVAL07EndlessLineIsBounded(t *testing.T) {
	const size = 64 << 20
	endless := io.MultiReader(io.LimitReader(xs{}, size), strings.NewReader("\n{}\n"))
	c := Lines(endless, io.Discard, nil, LineOptions{MaxFrame: 1 << 20})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := c.ReadFrame(nil)
	runtime.ReadMemStats(&after)
	if !errors.As(err, new(*FrameError)) || !strings.Contains(err.Error(), "1048576 bytes") {
		t.Fatal(err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes allocated for a frame of at most 1 MiB", used)
	}
	if frame, err := c.ReadFrame(nil); string(frame) != "{}" {
		t.Errorf("%s, %v", frame, err)
	}
}

type xs struct{}

func (xs) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestLinesWriteOneLinePerFrame(t *testing.T) {
	testOneLinePerFrame(t, func(c Conn, frame []byte) error { return c.WriteFrame(frame) })
	testOneLinePerFrame(t, func(c Conn, frame []byte) error { return c.(Lending).WriteLent(frame) })
}

func testOneLinePerFrame(t *testing.T, write func(Conn, []byte) error) {
	var out bytes.Buffer
	c := Lines(strings.NewReader(""), &out, nil, LineOptions{})
	for _, frame := range []string{"{}", "{\n\"a\": 1,\r\n\"b\": \"\\n\"\n}\n", "[1]", "[\"\u2028\u2029\u2027\xe2\x80\",\r\r2]"} {
		if err := write(c, []byte(frame)); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(c, []byte(" \n")); err == nil {
		t.Error("an empty frame was taken")
	}
	if want := "{}\n{ \"a\": 1,  \"b\": \"\\n\" } \n[1]\n[\"\\u2028\\u2029\u2027\xe2\x80\",  2]\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	if c.Close() != nil || write(c, []byte("{}")) != ErrClosed || c.Close() != nil {
		t.Error("Close")
	}
}

// gate is a writer that lets through one Write at a time.
type gate struct {
	open    chan struct{}
	entered chan int
	out     []byte
	fail    error
}

func newGate() *gate { return &gate{open: make(chan struct{}), entered: make(chan int, 100)} }

func (g *gate) Write(p []byte) (int, error) {
	g.entered <- len(p)
	<-g.open
	if g.fail != nil {
		return 0, g.fail
	}
	g.out = append(g.out, p...)
	return len(p), nil
}

func TestWritersCommitInGroupsAndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		c := Lines(strings.NewReader(""), g, nil, LineOptions{})
		first := make(chan error)
		go func() { first <- c.WriteFrame([]byte("0")) }()
		synctest.Wait()
		for i := 1; i <= 50; i++ { // none of these waits
			if err := c.WriteFrame(fmt.Append(nil, i)); err != nil {
				t.Fatal(err)
			}
		}
		close(g.open)
		if err := <-first; err != nil {
			t.Fatal(err)
		}
		if n := len(g.entered); n != 2 {
			t.Errorf("%d writes for 51 frames", n)
		}
		for i, line := range strings.Fields(string(g.out)) {
			if line != fmt.Sprint(i) {
				t.Fatalf("line %d is %s", i, line)
			}
		}
	})
}

// Frames of one caller are one write, also behind others, as far as there is room for them.
func TestFramesTogetherAreOneWrite(t *testing.T) {
	for limit, writes := range map[int]int{0: 1, 10: 3} { // there are 20 bytes, of which 8 are taken at a time
		synctest.Test(t, func(t *testing.T) {
			g := newGate()
			close(g.open)
			c := Lines(strings.NewReader(""), g, nil, LineOptions{MaxPending: limit}).(Batched)
			if err := c.WriteFrames([][]byte{[]byte("123"), []byte("456"), []byte("789"), []byte("abc"), []byte("def")}); err != nil {
				t.Fatal(err)
			}
			if n := len(g.entered); string(g.out) != "123\n456\n789\nabc\ndef\n" || n != writes {
				t.Errorf("limit %d: %q in %d writes, want %d", limit, g.out, n, writes)
			}
			if err := c.WriteFrames([][]byte{[]byte("123"), []byte(" ")}); err != errEmptyFrame || len(g.out) != 20 {
				t.Errorf("an empty frame: %v, %q", err, g.out)
			}
		})
	}
}

// Of frames together none is written twice, or behind one that is lost.
func TestFramesTogetherEndWithTheFirstThatFails(t *testing.T) {
	g := newGate()
	g.fail = io.ErrClosedPipe
	close(g.open)
	c := Lines(strings.NewReader(""), g, nil, LineOptions{MaxPending: 5}).(Batched)
	if err := c.WriteFrames([][]byte{[]byte("123"), []byte("456"), []byte("789")}); err != io.ErrClosedPipe || len(g.entered) != 1 {
		t.Errorf("%v after %d writes", err, len(g.entered))
	}
}

func TestWritersBlockWhenTooMuchIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		c := Lines(strings.NewReader(""), g, nil, LineOptions{MaxPending: 10})
		go c.WriteFrame([]byte("12345678901234567890")) // larger than the limit: taken because nothing is pending
		synctest.Wait()
		if err := c.WriteFrame([]byte("123456")); err != nil {
			t.Fatal(err)
		}
		blocked := make(chan error, 1)
		go func() { blocked <- c.WriteFrame([]byte("abcdef")) }()
		synctest.Wait()
		if len(blocked) > 0 {
			t.Fatal("the limit does not block")
		}
		g.open <- struct{}{}
		synctest.Wait()
		if len(blocked) == 0 {
			t.Fatal("still blocked after pending frames were taken")
		}
		close(g.open)
		synctest.Wait()
		if string(g.out) != "12345678901234567890\n123456\nabcdef\n" {
			t.Errorf("%q", g.out)
		}
	})
}

func TestAFailedWriteIsSticky(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.fail = errors.New("broken pipe")
		c := Lines(strings.NewReader(""), g, nil, LineOptions{MaxPending: 4})
		results := make(chan error, 3)
		for range 3 { // one writes, one is accepted, one waits for room
			go func() { results <- c.WriteFrame([]byte("{}1")) }()
			synctest.Wait()
		}
		close(g.open)
		synctest.Wait()
		failed := 0
		for range 3 {
			if err := <-results; err == g.fail {
				failed++
			}
		}
		if failed != 2 || c.WriteFrame([]byte("{}")) != g.fail || len(g.entered) != 1 {
			t.Errorf("%d failed, %d writes", failed, len(g.entered))
		}
		if err := c.Close(); err != g.fail {
			t.Errorf("Close: %v", err)
		}
	})
}

func TestFramesNeverInterleave(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out := Lines(strings.NewReader(""), w, w, LineOptions{MaxPending: 4096})
	in := Lines(r, io.Discard, r, LineOptions{})
	const writers, frames = 16, 200
	var all sync.WaitGroup
	for id := range writers {
		all.Go(func() {
			for n := range frames {
				if err := out.WriteFrame(fmt.Appendf(nil, "%d %d %s", id, n, strings.Repeat("z", (id*n)%300))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { all.Wait(); out.Close() }()
	next := [writers]int{}
	var buf []byte
	for {
		if buf, err = in.ReadFrame(buf); err != nil {
			break
		}
		var id, n int
		if _, err := fmt.Sscan(string(buf), &id, &n); err != nil || next[id] != n || strings.Count(string(buf), "z") != (id*n)%300 {
			t.Fatalf("%q, want number %d", buf, next[id])
		}
		next[id]++
	}
	if err != io.EOF {
		t.Error(err)
	}
	for id, n := range next {
		if n != frames {
			t.Errorf("writer %d: %d of %d", id, n, frames)
		}
	}
	in.Close()
}
