package bench

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"sync"
)

// serveFloor is the least that a concurrent server does by hand: a goroutine and an entry of a registry for each request,
// an id cut out of the line, and a fixed reply. It neither parses nor validates.
func serveFloor(ctx context.Context, r io.ReadCloser, w io.WriteCloser) {
	f := &floor{w: w, live: map[string]context.CancelFunc{}}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		id, ok := cutID(lines.Bytes())
		if !ok {
			continue
		}
		key := string(id)
		_, cancel := context.WithCancel(ctx)
		f.mu.Lock()
		f.live[key] = cancel
		f.mu.Unlock()
		f.wg.Add(1)
		go f.answer(key, floorReply(lines.Bytes()))
	}
	f.wg.Wait()
}

type floor struct {
	w    io.Writer
	wg   sync.WaitGroup
	mu   sync.Mutex
	live map[string]context.CancelFunc
	out  sync.Mutex
	buf  []byte
}

func (f *floor) answer(id, result string) {
	defer f.wg.Done()
	f.mu.Lock()
	cancel := f.live[id]
	delete(f.live, id)
	f.mu.Unlock()
	cancel()
	f.out.Lock()
	defer f.out.Unlock()
	f.buf = append(f.buf[:0], `{"jsonrpc":"2.0","id":`...)
	f.buf = append(f.buf, id...)
	f.buf = append(append(append(f.buf, `,"result":`...), result...), "}\n"...)
	f.w.Write(f.buf)
}

// floorReply returns the result that was prepared for the tool of a call.
func floorReply(line []byte) string {
	for _, s := range sizes {
		if bytes.HasSuffix(line, s.args("report")) {
			return s.structured
		}
		if bytes.HasSuffix(line, s.args("page")) {
			return s.plain
		}
	}
	return `{"content":[{"type":"text","text":"{\"accepted\":true}"}],"structuredContent":{"accepted":true}}`
}

// cutID finds the id of a request by the place where this benchmark's client writes it.
func cutID(line []byte) ([]byte, bool) {
	_, rest, ok := bytes.Cut(line, []byte(`"id":`))
	if !ok {
		return nil, false
	}
	id, _, ok := bytes.Cut(rest, []byte(","))
	return id, ok
}
