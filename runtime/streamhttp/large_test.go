package streamhttp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/library/library"
)

// treeServer serves the files of a folder over HTTP.
func treeServer(t *testing.T, dir string, opts ...server.Option) *httptest.Server {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	srv, err := library.New(struct{ library.Handlers }{}, append(opts, server.WithResourceTree("tree://", root.FS()))...)
	if err != nil {
		t.Fatal(err)
	}
	h := Handler(srv)
	ts := httptest.NewServer(h)
	t.Cleanup(func() {
		if err := errors.Join(h.Shutdown(context.Background()), srv.Shutdown(context.Background()), root.Close()); err != nil {
			t.Error(err)
		}
		ts.Close()
	})
	return ts
}

// readResource asks for a resource in the newest revision.
func readResource(t *testing.T, ts *httptest.Server, uri string) *http.Response {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q,%s}}`, uri, meta2026)
	f := &fixture{t: t, ts: ts}
	return f.post(body, headers2026("resources/read", uri)...)
}

// SRV05: large files are read in pieces, and arrive as small ones do.
func TestSRV05LargeFilesOfATreeAreRead(t *testing.T) {
	dir, tmp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	words := strings.Repeat("größer \"als\"\u2028 8 MiB\n", 1<<19)
	bin := bytes.Repeat([]byte{0, 1, 2, 255, 254}, 2<<20)
	almost := append([]byte(strings.Repeat("a", 32<<10-1)), "€\xff"...) // no text, and an end of a piece within a rune
	for name, data := range map[string][]byte{"words.txt": []byte(words), "bin": bin, "almost.txt": almost} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ts := treeServer(t, dir)
	var got struct {
		Result struct {
			Contents []struct{ URI, Text, Blob, MIMEType string }
		}
	}
	read := func(name string) string {
		resp := readResource(t, ts, "tree://"+name)
		got.Result.Contents = nil
		if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || len(got.Result.Contents) != 1 || got.Result.Contents[0].URI != "tree://"+name {
			t.Fatalf("%s: %v %+v", name, err, got.Result)
		}
		if resp.ContentLength >= 0 && name != "almost.txt" {
			t.Errorf("%s was not streamed: %d bytes", name, resp.ContentLength)
		}
		blob, err := base64.StdEncoding.DecodeString(got.Result.Contents[0].Blob)
		if err != nil {
			t.Error(err)
		}
		return got.Result.Contents[0].Text + string(blob)
	}
	for name, want := range map[string]string{"words.txt": words, "bin": string(bin), "almost.txt": string(almost)} {
		if read(name) != want {
			t.Errorf("%s is another", name)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// Figure: 100 MB through HTTP. What is allocated while they go through, by server and client together, is in all less than 8 MiB: so the
// peak is, too.
func TestTSK28A100MBResourceTakesLessThan8MiB(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "large"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const size = 100_000_000
	if err := os.Truncate(filepath.Join(dir, "large"), size); err != nil {
		t.Fatal(err)
	}
	ts := treeServer(t, dir)
	f := &fixture{t: t, ts: ts}
	session := f.initialize()
	for revision, read := range map[string]func() *http.Response{
		"2026-07-28": func() *http.Response { return readResource(t, ts, "tree://large") },
		"2025-11-25": func() *http.Response {
			return f.post(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"tree://large"}}`, session)
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n, err := io.Copy(io.Discard, read().Body)
		runtime.ReadMemStats(&after)
		if err != nil || n < size*4/3 {
			t.Fatalf("%s: %d bytes, %v", revision, n, err)
		}
		allocated := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d bytes took %d bytes of memory in all", revision, n, allocated)
		if allocated > 8<<20 {
			t.Errorf("%s: %d bytes were allocated", revision, allocated)
		}
	}
}

// source is data of a test: it fails or blocks at its end, and tells when it is closed.
type source struct {
	left   int64
	fails  error         // in place of io.EOF
	blocks chan struct{} // nil: it does not
	panics bool
	closed atomic.Int32
}

func (s *source) Read(b []byte) (int, error) {
	if s.left == 0 {
		if s.blocks != nil {
			<-s.blocks
			return 0, os.ErrClosed
		}
		if s.panics {
			panic("the source panics")
		}
		if s.fails != nil {
			return 0, s.fails
		}
		return 0, io.EOF
	}
	n := min(int64(len(b)), s.left)
	clear(b[:n])
	s.left -= n
	return int(n), nil
}

func (s *source) Close() error {
	if s.closed.Add(1) == 1 && s.blocks != nil {
		close(s.blocks)
	}
	return nil
}

// sourceServer has a tool whose result has what the source gives.
func sourceServer(t *testing.T, open server.Opener, change func(*server.Tool), opts ...server.Option) *fixture {
	t.Helper()
	sends := tool("send", func(ctx context.Context, call *server.Call, in *input) (*output, error) {
		if in.text == "progress" {
			call.Progress(ctx, 1, 2, "reading")
		}
		call.Content(server.Text("a"), server.BlobResourceFrom("x://y", "", open), server.Text("z"))
		return &output{}, nil
	})
	if change != nil {
		change(&sends)
	}
	f := &fixture{t: t, srv: newServer(t, []server.Tool{sends}, opts...)}
	f.h = Handler(f.srv)
	f.ts = httptest.NewServer(f.h)
	t.Cleanup(f.shutDown)
	return f
}

func TestSRV04ALargeBlockIsStreamed(t *testing.T) {
	s := &source{left: 1 << 20}
	f := sourceServer(t, func() (io.ReadCloser, error) { s.left = 1 << 20; return s, nil }, nil)
	for _, text := range []string{"", "progress"} {
		got := body(f.call2026("1", "send", text))
		if text != "" {
			events := strings.Split(strings.TrimSpace(got), "\n\n")
			if len(events) != 2 || !strings.HasPrefix(events[1], eventHead) {
				t.Fatalf("%d events", len(events))
			}
			got = strings.TrimPrefix(events[1], eventHead)
		}
		var blocks []struct {
			Text     string
			Resource struct{ Blob []byte }
		}
		if err := json.Unmarshal([]byte(field(got, "result", "content")), &blocks); err != nil || len(blocks) != 4 {
			t.Fatalf("%v: %.300s", err, got)
		}
		if blocks[1].Text != "a" || blocks[3].Text != "z" || !bytes.Equal(blocks[2].Resource.Blob, make([]byte, 1<<20)) {
			t.Errorf("%.300s", got)
		}
	}
	if n := s.closed.Load(); n != 2 {
		t.Errorf("closed %d times", n)
	}
}

// What has begun is never completed by anything else: a reader that fails ends the connection.
func TestSRV04AReaderThatFailsEndsTheConnection(t *testing.T) {
	broken := errors.New("broken")
	for _, size := range []int64{0, 10, 1 << 20} {
		s := &source{left: size, fails: broken}
		f := sourceServer(t, server.ReaderOf(s), nil)
		resp := f.call2026("1", "send", "")
		got, err := io.ReadAll(resp.Body)
		if size < 1<<10 { // nothing was sent yet
			if err != nil || field(string(got), "error", "code") != "-32603" || strings.Contains(string(got), "broken") {
				t.Errorf("%d: %s %v", size, got, err)
			}
		} else if !errors.Is(err, io.ErrUnexpectedEOF) || json.Valid(got) {
			t.Errorf("%d: completed: %v", size, err)
		}
		if s.closed.Load() == 0 {
			t.Errorf("%d: not closed", size)
		}
		if got := body(f.call2026("2", "send", "")); field(got, "error", "code") != "-32603" {
			t.Errorf("a reader was read twice: %s", got)
		}
	}
	f := sourceServer(t, func() (io.ReadCloser, error) { return nil, broken }, nil)
	if got := body(f.call2026("1", "send", "")); field(got, "error", "code") != "-32603" {
		t.Errorf("not opened: %s", got)
	}
}

// TSK25: a reader that panics ends its own answer, which is not completed when it has begun.
func TestTSK25SRV04AReaderThatPanics(t *testing.T) {
	for _, size := range []int64{0, 1 << 20} {
		s := &source{left: size, panics: true}
		f := sourceServer(t, server.ReaderOf(s), nil)
		resp := f.call2026("1", "send", "")
		got, err := io.ReadAll(resp.Body)
		if size == 0 { // nothing was sent yet
			if err != nil || field(string(got), "error", "code") != "-32603" {
				t.Errorf("%s %v", got, err)
			}
		} else if !errors.Is(err, io.ErrUnexpectedEOF) || json.Valid(got) {
			t.Errorf("completed: %v", err)
		}
		if s.closed.Load() == 0 {
			t.Errorf("%d: not closed", size)
		}
	}
}

// CAN18: a client that hangs up ends the reading, also of a source that blocks.
func TestCAN18SRV04CancellationEndsWhatIsStreamed(t *testing.T) {
	s := &source{left: 1 << 20, blocks: make(chan struct{})}
	ended := make(chan error, 1)
	f := sourceServer(t, server.ReaderOf(s), nil, server.WithObserver(func(e server.Event) {
		if e.Kind == server.RequestEnded {
			ended <- e.Err
		}
	}))
	resp := f.call2026("1", "send", "")
	if _, err := io.ReadFull(resp.Body, make([]byte, 1<<10)); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if cause := <-ended; sourceOf(cause) != inflight.SourceDisconnect || s.closed.Load() == 0 {
		t.Errorf("ended by %v, closed %d times", cause, s.closed.Load())
	}
}

// CAN20: so does the timeout, which is not told in the middle of an answer.
func TestCAN20SRV04ATimeoutEndsWhatIsStreamed(t *testing.T) {
	s := &source{left: 1 << 20, blocks: make(chan struct{})}
	f := sourceServer(t, server.ReaderOf(s), func(tool *server.Tool) { tool.Cancel.Timeout = 50 * time.Millisecond })
	got, err := io.ReadAll(f.call2026("1", "send", "").Body)
	switch told := bytes.Contains(got, []byte("timed out")); {
	case err == nil && told && len(got) < 1<<10: // it passed before anything was sent
	case !errors.Is(err, io.ErrUnexpectedEOF) || told:
		t.Errorf("%v: %d bytes", err, len(got))
	}
}

// CAN21: and the end of the server.
func TestCAN21SRV04ShutdownEndsWhatIsStreamed(t *testing.T) {
	s := &source{left: 1 << 20, blocks: make(chan struct{})}
	f := sourceServer(t, server.ReaderOf(s), nil, server.WithGrace(time.Millisecond))
	resp := f.call2026("1", "send", "")
	if _, err := io.ReadFull(resp.Body, make([]byte, 1<<10)); err != nil {
		t.Fatal(err)
	}
	if err := f.h.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// In a session the answer may be asked for again: it waits in a file until there is room for it.
func TestSRV04ALargeBlockInASession(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	f := sourceServer(t, func() (io.ReadCloser, error) { return &source{left: 1 << 20}, nil }, nil, server.WithMaxBytesUnread(8<<20))
	session := f.initialize()
	got := body(f.post(callBody("1", "send", ""), session))
	if !strings.Contains(got, base64.StdEncoding.EncodeToString(make([]byte, 1<<20))) || !json.Valid([]byte(got)) {
		t.Errorf("%.300s", got)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// What middleware reads may have half of what is kept of unread answers.
func TestTSK28SRV04WhatIsTooLargeToBeRead(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	f := sourceServer(t, func() (io.ReadCloser, error) { return &source{left: 1 << 30}, nil }, nil, server.WithMaxBytesUnread(8<<20),
		around(func(ctx context.Context, next server.Handle, m *server.Message) (*server.MessageResult, error) {
			result, err := next(ctx, m)
			_, _ = result.JSON()
			return result, err
		}))
	f.h.opts.prime = time.Minute // however slow the machine, the answer comes alone
	got := body(f.post(callBody("1", "send", ""), f.initialize()))
	if field(got, "error", "code") != "-32603" || !strings.Contains(field(got, "error", "message"), "too large: the limit here is 4194304 bytes") {
		t.Errorf("%.300s", got)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
