package streamhttp

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// openBlocks counts the readers of several blocks that are open, and how many were at most.
type openBlocks struct{ now, most atomic.Int32 }

type countedSource struct {
	source
	of *openBlocks
}

func (o *openBlocks) open() (io.ReadCloser, error) {
	o.most.Store(max(o.most.Load(), o.now.Add(1)))
	return &countedSource{source{left: longSize}, o}, nil
}

// Close implements io.Closer.
func (s *countedSource) Close() error {
	s.of.now.Add(-1)
	return s.source.Close()
}

// several has three long blocks, and one more that can not be opened if its text is "broken".
func (o *openBlocks) several(ctx context.Context, call *server.Call, in *input) (*output, error) {
	if strings.Contains(in.text, "progress") {
		call.Progress(ctx, 1, 2, "reading")
	}
	for range 3 {
		call.Content(server.BlobResourceFrom("x://y", "", o.open))
	}
	if strings.Contains(in.text, "broken") {
		call.Content(server.BlobResourceFrom("x://y", "", func() (io.ReadCloser, error) { return nil, errors.New("it is broken") }))
	}
	return &output{}, nil
}

// Of the blocks of one answer in a revision without sessions one at a time is open, and an error of any is the answer.
func TestTSK28SeveralBlocksOfAnExchangeAreOpenedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLongBubble(t, nil)
		call := func(text string) (answer string) {
			resp := f.call2026("1", "several", text)
			if strings.HasPrefix(text, "progress") {
				s := f.events(resp)
				s.message()
				answer = s.message().data
				s.end()
			} else {
				answer = body(resp)
			}
			return answer
		}
		for _, text := range []string{"", "progress"} {
			answer := call(text)
			if n := strings.Count(answer, `"blob":"`+base64.StdEncoding.EncodeToString(make([]byte, longSize))+`"`); n != 3 || field(answer, "id") != "1" {
				t.Errorf("%d blocks: %.300s, %d bytes", n, answer, len(answer))
			}
			if answer := call(text + "broken"); field(answer, "error", "code") != "-32603" || field(answer, "id") != "1" {
				t.Errorf("%.300s", answer)
			}
		}
		if most, left := f.blocks.most.Load(), f.blocks.now.Load(); most != 1 || left != 0 {
			t.Errorf("at most %d open, %d left", most, left)
		}
		f.wantRoom(f.initialize())
	})
}

// Clients that read nothing of an answer with several long blocks give way to others that wait for the room of files.
func TestTSK28WhoDoesNotReadSeveralBlocksBlocksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLongBubble(t, nil)
		unread := make(chan *http.Response, 5)
		for range cap(unread) {
			go func() {
				resp, err := f.ts.Client().Do(f.request(http.MethodPost, callBody2026("1", "several", ""), headers2026("tools/call", "several")...))
				if err != nil {
					t.Error(err)
				}
				unread <- resp
			}()
		}
		synctest.Wait()
		began := time.Now()
		s := f.events(f.post(callBody("9", "send", "progress"), f.initialize()))
		s.message()
		f.wantLong(s.message().data, "9")
		if waited := time.Since(began); waited > 20*time.Second {
			t.Errorf("waited %v", waited)
		}
		for range cap(unread) {
			_ = (<-unread).Body.Close()
		}
	})
}
