package task

import (
	"context"
	"encoding/hex"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// aState has something in every field that a form keeps.
func aState() State {
	at := time.Unix(1_800_000_000, 123_456_789)
	return State{
		Task: Task{
			ID: "ID", Owner: "ada", Tool: "tool", Status: InputRequired, StatusMessage: "half way", CreatedAt: at, UpdatedAt: at.Add(time.Second),
			TTL: Unlimited, PollInterval: time.Second, Timeout: time.Minute, Reruns: 2, Version: 7, Uncancellable: true, Kind: 200, CancelRequested: true,
			Machine: 1<<31 + 5, CancelReason: "enough", Error: &rpc.Error{Code: -32000, Message: "no", Data: []byte("[1]")},
			Questions: []Question{{Name: "q", Method: "ask/it", Payload: []byte("?"), AskedAt: at, Deadline: at.Add(time.Hour)}, {Name: "r", Payload: []byte{}}},
		},
		Node: "node", Epoch: 3, Leased: at.Add(time.Minute), Crashes: 1,
	}
}

func anEntry() Entry {
	return Entry{Name: "q", Kind: Answered, Question: aState().Task.Questions[0], Data: []byte("yes")}
}

// aTimedState is aState with its running time, and so without an error.
func aTimedState() State {
	s := aState()
	s.Task.Error = nil
	s.Task.Ran, s.Since, s.Counted = 90*time.Second, s.Task.UpdatedAt, s.Epoch
	return s
}

// What the formats look like. These never change: a new format gets examples of its own.
const (
	headOfFormat1  = "010449440661646108746f6f6c1c696e7075745f72657175697265641068616c662077617902aab4feb0d39df1fa3102aadcd4eada9df1fa31feffffffffffffffff0180a8d6b90780e0ba84bf03040e029003028a808080100c656e6f7567680402710c61736b2f6974043f02aab4feb0d39df1fa3102aab4c3bc99eff2fa3102720002000002fff303046e6f085b315d086e6f64650602aa94b9b592a1f1fa3102"
	headOfFormat2  = "020449440661646108746f6f6c1c696e7075745f72657175697265641068616c662077617902aab4feb0d39df1fa3102aadcd4eada9df1fa31feffffffffffffffff0180a8d6b90780e0ba84bf03040e029003028a808080100c656e6f7567680402710c61736b2f6974043f02aab4feb0d39df1fa3102aab4c3bc99eff2fa3102720002000002fff303046e6f085b315d086e6f64650602aa94b9b592a1f1fa31028090d8c69e0502aadcd4eada9df1fa31"
	headWithTime   = "010449440661646108746f6f6c1c696e7075745f72657175697265641068616c662077617902aab4feb0d39df1fa3102aadcd4eada9df1fa31feffffffffffffffff0180a8d6b90780e0ba84bf03040e029003028a808080100c656e6f7567680402710c61736b2f6974043f02aab4feb0d39df1fa3102aab4c3bc99eff2fa31027200020000020000248090d8c69e0502aadcd4eada9df1fa3106086e6f64650602aa94b9b592a1f1fa3102"
	entryOfFormat1 = "0102710402710c61736b2f6974043f02aab4feb0d39df1fa3102aab4c3bc99eff2fa3108796573"
)

func TestDUR07FormsAreReadBack(t *testing.T) {
	s, e := aTimedState(), anEntry()
	var gotState State
	if err := gotState.ReadHead(s.AppendHead(nil)); err != nil || !reflect.DeepEqual(gotState, s) {
		t.Errorf("state: %v, %+v, want %+v", err, gotState, s)
	}
	var gotEntry Entry
	if err := gotEntry.Read(e.Append(nil)); err != nil || !reflect.DeepEqual(gotEntry, e) {
		t.Errorf("entry: %v, %+v, want %+v", err, gotEntry, e)
	}
	empty := State{Task: Task{Status: Working}}
	gotState = aTimedState()
	if err := gotState.ReadHead(empty.AppendHead(nil)); err != nil || !reflect.DeepEqual(gotState, empty) {
		t.Errorf("empty state over another: %v, %+v", err, gotState)
	}
}

func TestDUR07StoredFormsOfEveryVersionAreRead(t *testing.T) {
	for form, want := range map[string]State{headOfFormat1: aState(), headWithTime: aTimedState(), headOfFormat2: aTimedState()} {
		s := aTimedState()
		b, _ := hex.DecodeString(form)
		if err := s.ReadHead(b); err != nil || !reflect.DeepEqual(s, want) {
			t.Errorf("state: %v, %+v; the form of today is %x", err, s, want.AppendHead(nil))
		}
		if again := want.AppendHead(nil); string(again) != string(b) && form != headOfFormat2 {
			t.Errorf("a state that an earlier version could read is written as %x, not %s", again, form)
		}
	}
	var e Entry
	b, _ := hex.DecodeString(entryOfFormat1)
	if err := e.Read(b); err != nil || !reflect.DeepEqual(e, anEntry()) {
		t.Errorf("entry of format 1: %v, %+v; the form of today is %x", err, e, func() []byte { a := anEntry(); return a.Append(nil) }())
	}
}

func TestDUR07LaterAndDamagedFormsAreRefused(t *testing.T) {
	a := aTimedState()
	good := a.AppendHead(nil)
	var s State
	var format *FormatError
	if err := s.ReadHead(append([]byte{Format + 1}, good[1:]...)); !errors.As(err, &format) || format.Stored != Format+1 {
		t.Errorf("a later format: %v", err)
	}
	for n := range good {
		if err := s.ReadHead(good[:n]); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes of %d: %v", n, len(good), err)
		}
	}
	if err := s.ReadHead(append(good, 0)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a byte too many: %v", err)
	}
}

func FuzzReadHead(f *testing.F) {
	a, e := aState(), anEntry()
	f.Add(a.AppendHead(nil))
	timed := aTimedState()
	f.Add(timed.AppendHead(nil))
	f.Add(e.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s, again State
		if s.ReadHead(b) == nil {
			if err := again.ReadHead(s.AppendHead(nil)); err != nil || !reflect.DeepEqual(s, again) {
				t.Errorf("%x reads as %+v, and that as %+v, %v", b, s, again, err)
			}
		}
		var e Entry
		_ = e.Read(b)
	})
}

// newer is a store in which a newer version of the server keeps its tasks.
type newer struct{ Store }

func (newer) Durable() bool { return true }

func (newer) Begin(context.Context, string, string, time.Duration) (Begun, error) {
	return Begun{}, &FormatError{Format + 1}
}

func TestDUR07TasksOfANewerVersionAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newer{NewMemory()}
		if _, err := store.Create(t.Context(), Task{ID: "new", Machine: ^Machine(0), TTL: Unlimited}, Quota{}); err != nil {
			t.Fatal(err)
		}
		e := New(Config{Store: store, Machine: ^Machine(0), Resume: true, Runner: func(context.Context, *Run) Outcome {
			t.Error("the task ran")
			return Outcome{}
		}})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got, err := e.Get(t.Context(), "", "new"); err != nil || got.Status != Working || len(e.runs) != 0 {
			t.Errorf("%+v, %v, %d runs", got, err, len(e.runs))
		}
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
