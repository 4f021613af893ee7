package streamhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// holdingStore holds up the recording of answers, or fails it.
type holdingStore struct {
	task.Store
	held atomic.Pointer[chan struct{}] // until the channel is closed; nil: not held up
	full atomic.Bool
}

func (s *holdingStore) Answer(ctx context.Context, owner, id string, answers []task.Answer) (task.Task, error) {
	if held := s.held.Load(); held != nil {
		<-*held
	}
	if s.full.Load() {
		return task.Task{}, errors.New("the disk is full")
	}
	return s.Store.Answer(ctx, owner, id, answers)
}

func (s *holdingStore) hold() (release func()) {
	held := make(chan struct{})
	s.held.Store(&held)
	return func() { close(held) }
}

// inRecording runs test in a bubble with the question of a task that is asked on a stream.
func inRecording(t *testing.T, test func(f *fixture, store *holdingStore, session, id string, s *events, question string)) {
	synctest.Test(t, func(t *testing.T) {
		store := &holdingStore{Store: task.NewMemory()}
		f := newAskingBubble(t, server.WithTaskStore(store))
		session := f.initialize()
		id := f.create(session)
		s, _ := f.stream(session, "7", id)
		test(f, store, session, id, s, s.question())
	})
}

// acknowledged posts the answer to the question and returns the channel of the status.
func (f *fixture) acknowledged(session, question string) <-chan string {
	status := make(chan string, 1)
	go func() {
		resp := f.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":"yes"}}}`, field(question, "id")), session)
		status <- fmt.Sprintf("%d %s%s", resp.StatusCode, resp.Header.Get("Retry-After"), body(resp))
	}()
	return status
}

// The answer to a task's question is acknowledged when it is recorded, however often it comes.
func TestDUR01DUR05AnAnswerIsAcknowledgedWhenItIsRecorded(t *testing.T) {
	inRecording(t, func(f *fixture, store *holdingStore, session, id string, s *events, question string) {
		release := store.hold()
		var all []<-chan string
		for range 3 {
			all = append(all, f.acknowledged(session, question))
			synctest.Wait()
		}
		for i, status := range all {
			if len(status) > 0 {
				f.t.Errorf("post %d is acknowledged, and the answer is not recorded", i)
			}
		}
		f.want(f.post(`{"jsonrpc":"2.0","id":9,"method":"ping"}`, session), 200) // the session goes on meanwhile
		release()
		for i, status := range append(all, f.acknowledged(session, question)) {
			if got := <-status; got != "202 " {
				f.t.Errorf("post %d: %s", i, got)
			}
		}
		if m := s.message().data; !strings.Contains(m, "accept yes") {
			f.t.Errorf("want the result, got %s", m)
		}
	})
}

// An answer that the store does not take is not acknowledged; when it comes again, it is recorded, and nothing is asked twice.
func TestDUR01DUR05AnAnswerThatIsNotRecordedMayComeAgain(t *testing.T) {
	inRecording(t, func(f *fixture, store *holdingStore, session, id string, s *events, question string) {
		next := make(chan string, 1)
		go func() { // reads meanwhile: the stream of a client that does not is ended
			e, ok := s.next()
			for ok && e.data == "" {
				e, ok = s.next()
			}
			next <- e.data
		}()
		store.full.Store(true)
		for range 2 {
			if got := <-f.acknowledged(session, question); !strings.HasPrefix(got, "503 1") || !strings.Contains(got, "may not be recorded") {
				f.t.Errorf("not recorded: %s", got)
			}
		}
		store.full.Store(false)
		if got := <-f.acknowledged(session, question); got != "202 " {
			f.t.Errorf("recorded: %s", got)
		}
		if m := <-next; !strings.Contains(m, "accept yes") {
			f.t.Errorf("want the result, got %s", m)
		}
	})
}

// An answer that was not recorded when its delivery ended is refused, however often it comes; then the question is asked again.
func TestDUR01AnAnswerThatIsLostIsRefused(t *testing.T) {
	inRecording(t, func(f *fixture, store *holdingStore, session, id string, s *events, question string) {
		store.full.Store(true)
		first := f.acknowledged(session, question)
		synctest.Wait()
		f.want(f.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, session), 202)
		if got := <-first; !strings.HasPrefix(got, "503 1") {
			f.t.Errorf("not recorded: %s", got)
		}
		store.full.Store(false)
		for range 2 {
			if got := <-f.acknowledged(session, question); !strings.HasPrefix(got, "400 ") || !strings.Contains(got, "could not be recorded") {
				f.t.Errorf("lost: %s", got)
			}
		}
		again, _ := f.stream(session, "8", id)
		f.answered(again, session, again.question())
	})
}

// The shutdown does not wait for longer than the grace period, and acknowledges nothing then.
func TestDUR01CAN21AnAnswerIsNotAcknowledgedByAShutdown(t *testing.T) {
	inRecording(t, func(f *fixture, store *holdingStore, session, id string, _ *events, question string) {
		release := store.hold()
		status := f.acknowledged(session, question)
		synctest.Wait()
		if err := f.h.Shutdown(context.Background()); !errors.Is(err, server.ErrGrace) {
			f.t.Errorf("Shutdown: %v", err)
		}
		if got := <-status; !strings.HasPrefix(got, fmt.Sprint(http.StatusServiceUnavailable)) {
			f.t.Errorf("not recorded: %s", got)
		}
		release()
	})
}
