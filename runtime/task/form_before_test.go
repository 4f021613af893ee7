package task

import (
	"encoding/hex"
	"testing"
	"time"
)

// What a program of format 1 has written of tasks with a timeout of an hour that may run again once. All were created, and begun, at beforeAt.
const (
	beforeRuns        = "010449440661646108746f6f6c0e776f726b696e6700028080a0bbd29df1fa31028080a0bbd29df1fa31feffffffffffffffff01008080c58bc6d1010202000000feffffff1f000000066f6c64020280e0dabf91a1f1fa3100"
	beforeParked      = "010449440661646108746f6f6c0e776f726b696e6700028080a0bbd29df1fa31028080ceedaba9f2fa31feffffffffffffffff01008080c58bc6d1010204000000feffffff1f00000000020000"                                                                                                     // after 40 minutes
	beforeParkedTwice = "010449440661646108746f6f6c0e776f726b696e6700028080a0bbd29df1fa310280a0bfb0ddddf2fa31feffffffffffffffff01008080c58bc6d1010206000000feffffff1f00000000040000"                                                                                                     // and again: 5 minutes after a pause
	beforeDied        = "010449440661646108746f6f6c0e776f726b696e670868616c66028080a0bbd29df1fa31028080b794bfe3f1fa31feffffffffffffffff01008080c58bc6d1010204000000feffffff1f000000066f6c64020280c0ac9dbdeaf1fa3100"                                                                     // its last change was after 20 minutes, its lease is over after 22
	beforeDiedOnce    = "010449440661646108746f6f6c0e776f726b696e670868616c66028080a0bbd29df1fa31028080b794bfe3f1fa31feffffffffffffffff01008080c58bc6d1010204000000feffffff1f000000066f6c64040280c097afb9f8f1fa3102"                                                                     // begun once more after 25 minutes
	beforeAsks        = "010449440661646108746f6f6c1c696e7075745f726571756972656400028080a0bbd29df1fa310280c082c1b586f2fa31feffffffffffffffff01008080c58bc6d1010204000000feffffff1f000202710c61736b2f6974043f0280c082c1b586f2fa31028080f9f4b0b5f9fa3100066f6c64020280e0dabf91a1f1fa3100" // after 30 minutes, for five hours
	beforeAsksParked  = "010449440661646108746f6f6c1c696e7075745f726571756972656400028080a0bbd29df1fa31028080aad2dec0f4fa31feffffffffffffffff01008080c58bc6d1010206000000feffffff1f000202710c61736b2f6974043f0280c082c1b586f2fa31028080f9f4b0b5f9fa310000020000"                         // and parked after two hours
	beforeEntry       = "0102710202710c61736b2f6974043f0280c082c1b586f2fa31028080f9f4b0b5f9fa3100"                                                                                                                                                                                       // the question's
)

var beforeAt = time.Unix(1_800_000_000, 0)

// readBefore reads a state of format 1, with its question if it has one.
func readBefore(t *testing.T, form string) (s State) {
	t.Helper()
	b, err := hex.DecodeString(form)
	if err == nil {
		err = s.ReadHead(b)
	}
	if err == nil && len(s.Task.Questions) > 0 {
		s.Journal = make([]Entry, 1)
		b, _ = hex.DecodeString(beforeEntry)
		err = s.Journal[0].Read(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What runs of format 1 took of a task's time, and how often they died, counts in those of today.
func TestDUR07RunsOfTheFormatBeforeCount(t *testing.T) {
	for name, c := range map[string]struct {
		form    string
		ran     time.Duration
		crashes int
	}{
		"parked":                    {beforeParked, 30 * time.Minute, 0}, // after 40, of which it may have waited for some
		"parked twice":              {beforeParkedTwice, 0, 0},           // when the second one began is not known
		"died":                      {beforeDied, 20 * time.Minute, 1},
		"died, and again":           {beforeDiedOnce, 0, 2},
		"died with a question open": {beforeAsks, 30 * time.Minute, 1},
		"parked with one":           {beforeAsksParked, 30 * time.Minute, 0},
	} {
		s := readBefore(t, c.form)
		begins := beforeAt.Add(5*time.Hour + 30*time.Minute)
		l, err := s.Begin("now", time.Minute, begins)
		if err != nil || s.Task.Ran != c.ran || s.Crashes != c.crashes {
			t.Errorf("%s: %v, %v, %d crashes, want %v and %d", name, err, s.Task.Ran, s.Crashes, c.ran, c.crashes)
		}
		if len(s.Task.Questions) > 0 { // this run withdraws it, and is counted from then on
			if err := s.Withdraw(l, "q", begins); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Park(l, begins.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if want := c.ran + time.Minute; s.Task.Ran != want {
			t.Errorf("%s: after another minute %v, want %v", name, s.Task.Ran, want)
		}
	}
}

// A run of format 1 goes on with what is changed here meanwhile: an answer to its question, a cancel.
func TestDUR07ARunOfTheFormatBeforeStaysInItsForm(t *testing.T) {
	for name, form := range map[string]string{"runs": beforeRuns, "asks": beforeAsks} {
		s, now := readBefore(t, form), beforeAt.Add(time.Hour)
		leased := s.Leased
		s.Leased = now.Add(time.Minute) // as heartbeats have extended it
		if _, err := s.Answer([]Answer{{Name: "q", Data: []byte("yes")}}, now); err != nil {
			t.Fatal(err)
		}
		if err := s.Cancel(Cancel{Reason: "enough"}, now); err != nil {
			t.Fatal(err)
		}
		s.Leased = leased // heartbeats are not stored
		if s.Task.Ran != 0 || !s.Since.IsZero() {
			t.Errorf("%s: after changes of this version it is counted: %v, from %v", name, s.Task.Ran, s.Since)
		}
		wantForm(t, name+" before", &s)
		if err := s.Finish(Lease{"ID", "old", 1}, Outcome{Status: Completed}, now); err != nil {
			t.Fatal(err)
		}
	}
}

// What a program of format 1 has made of tasks that were begun here: of one that had run for 10 minutes and was parked, and of one that died at once. It began
// each after 20 minutes, and parked it after 25.
const (
	parkedRunsBefore = "010449440661646108746f6f6c0e776f726b696e6700028080a0bbd29df1fa310280c0ebe7c8c0f1fa31feffffffffffffffff01008080c58bc6d1010204000000feffffff1f00000200001280c0cbacf6220002066f6c64040280e0f198fee6f1fa3100"
	parkedBefore     = "010449440661646108746f6f6c0e776f726b696e6700028080a0bbd29df1fa310280e0dcaafaf4f1fa31feffffffffffffffff01008080c58bc6d1010206000000feffffff1f00000200001280c0cbacf622000200040000"
	diedRunsBefore   = "010449440661646108746f6f6c0e776f726b696e6700028080a0bbd29df1fa31028080a0bbd29df1fa31feffffffffffffffff01008080c58bc6d1010202000000feffffff1f00000200001a00028080a0bbd29df1fa3102066f6c64040280e0f198fee6f1fa3102"
	diedBefore       = "010449440661646108746f6f6c0e776f726b696e6700028080a0bbd29df1fa310280e0dcaafaf4f1fa31feffffffffffffffff01008080c58bc6d1010204000000feffffff1f00000200001a00028080a0bbd29df1fa310200040002"
)

// The format before runs tasks that were begun here, and leaves the time that they had; what it takes itself is not known.
func TestDUR07TheFormatBeforeKeepsWhatWasCounted(t *testing.T) {
	for name, c := range map[string]struct {
		form    string
		ran     time.Duration
		crashes int
	}{
		"parked, runs":   {parkedRunsBefore, 10 * time.Minute, 0},
		"parked, parked": {parkedBefore, 10 * time.Minute, 0},
		"died, runs":     {diedRunsBefore, 0, 1},
		"died, parked":   {diedBefore, 0, 1},
	} {
		s := readBefore(t, c.form)
		if s.Task.Error != nil || s.Task.Ran != c.ran || !s.Since.IsZero() || s.Crashes != c.crashes {
			t.Errorf("%s: ran %v, counts from %v, %d crashes, error %v, want %v and %d", name, s.Task.Ran, s.Since, s.Crashes, s.Task.Error, c.ran, c.crashes)
		}
		if s.Node != "" { // a change that is made here meanwhile does not have it counted
			if s.count(beforeAt.Add(time.Hour)); s.Task.Ran != c.ran || !s.Since.IsZero() {
				t.Errorf("%s: ran %v, counts from %v", name, s.Task.Ran, s.Since)
			}
		}
		l, err := s.Begin("now", time.Minute, beforeAt.Add(2*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Park(l, beforeAt.Add(2*time.Hour+time.Minute)); err != nil || s.Task.Ran != c.ran+time.Minute {
			t.Errorf("%s: after a minute here %v, want %v, %v", name, s.Task.Ran, c.ran+time.Minute, err)
		}
	}
}

// Whatever is done to a task here, a program of the format before can read it: make versions has one that does, and these are the bytes that it was given.
func TestDUR07StatesAreReadByTheFormatBefore(t *testing.T) {
	s := NewState(Task{ID: "ID", Machine: ^Machine(0), TTL: Unlimited, Timeout: time.Hour}, beforeAt)
	var l Lease
	for _, change := range []struct {
		name string
		make func(now time.Time) error
	}{
		{"created", func(time.Time) error { return nil }},
		{"begun", func(now time.Time) (err error) { l, err = s.Begin("now", time.Minute, now); return err }},
		{"described", func(now time.Time) error { return s.Describe(l, "half", now) }},
		{"asked", func(now time.Time) error { return s.Ask(l, Question{Name: "q"}, now) }},
		{"answered", func(now time.Time) error { _, err := s.Answer([]Answer{{Name: "q"}}, now); return err }},
		{"parked", func(now time.Time) error { return s.Park(l, now) }},
		{"begun again", func(now time.Time) (err error) { l, err = s.Begin("now", time.Minute, now); return err }},
		{"finished", func(now time.Time) error { return s.Finish(l, Outcome{Status: Completed}, now) }},
	} {
		if err := change.make(beforeAt.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		wantForm(t, change.name, &s)
	}
}

// forms are what is stored of states. A change of one is a new format, or make versions has to pass.
var forms = map[string]string{
	"runs before": "010449440661646108746f6f6c0e776f726b696e6700028080a0bbd29df1fa31028080e5c698eff2fa31feffffffffffffffff01008080c58bc6d1010204000002feffffff1f0c656e6f7567680000066f6c64020280e0dabf91a1f1fa3100",
	"asks before": "010449440661646108746f6f6c0e776f726b696e6700028080a0bbd29df1fa31028080e5c698eff2fa31feffffffffffffffff01008080c58bc6d1010208000002feffffff1f0c656e6f7567680000066f6c64020280e0dabf91a1f1fa3100",
	"created":     "0104494400000e776f726b696e6700028080a0bbd29df1fa31028080a0bbd29df1fa31feffffffffffffffff01008080c58bc6d1010002000000feffffff1f00000000000280b0bdfdb19ff1fa3100",
	"begun":       "0104494400000e776f726b696e6700028080a0bbd29df1fa31028080a0bbd29df1fa31feffffffffffffffff01008080c58bc6d1010002000000feffffff1f00000200001a000280e0dabf91a1f1fa3102066e6f77020280c095c4d0a4f1fa3100",
	"described":   "0104494400000e776f726b696e670868616c66028080a0bbd29df1fa310280e0dabf91a1f1fa31feffffffffffffffff01008080c58bc6d1010004000000feffffff1f00000200001a000280e0dabf91a1f1fa3102066e6f77020280c095c4d0a4f1fa3100",
	"asked":       "0104494400001c696e7075745f72657175697265640868616c66028080a0bbd29df1fa310280e0dabf91a1f1fa31feffffffffffffffff01008080c58bc6d1010006000000feffffff1f0002027100000280e0dabf91a1f1fa310002000008000002066e6f77020280c095c4d0a4f1fa3100",
	"answered":    "0104494400000e776f726b696e670868616c66028080a0bbd29df1fa310280e0dabf91a1f1fa31feffffffffffffffff01008080c58bc6d1010008000000feffffff1f00000200001a000280e0dabf91a1f1fa3102066e6f77020280c095c4d0a4f1fa3100",
	"parked":      "0104494400000e776f726b696e670868616c66028080a0bbd29df1fa310280e0dabf91a1f1fa31feffffffffffffffff01008080c58bc6d101000a000000feffffff1f00000200000800000200020000",
	"begun again": "0104494400000e776f726b696e670868616c66028080a0bbd29df1fa310280e0dabf91a1f1fa31feffffffffffffffff01008080c58bc6d101000a000000feffffff1f00000200001a000280e0dabf91a1f1fa3104066e6f77040280c095c4d0a4f1fa3100",
	"finished":    "01044944000012636f6d706c6574656400028080a0bbd29df1fa310280e0dabf91a1f1fa31feffffffffffffffff01008080c58bc6d101000c000000feffffff1f000000066e6f77040280c095c4d0a4f1fa3100",
}

func wantForm(t *testing.T, name string, s *State) {
	t.Helper()
	if got := hex.EncodeToString(s.AppendHead(nil)); got != forms[name] {
		t.Errorf("%s: stored as\n%s, want\n%s", name, got, forms[name])
	}
}

// What waited in a queue for longer than its timeout has time left when its next run begins.
func TestDUR07WaitingIsNotRunning(t *testing.T) {
	s := readBefore(t, beforeParked)
	s.Task.CreatedAt = beforeAt.Add(-2 * time.Hour)
	if _, err := s.Begin("now", time.Minute, beforeAt.Add(5*time.Hour)); err != nil || s.Task.Ran > s.Task.Timeout/2 {
		t.Errorf("ran %v of %v, %v", s.Task.Ran, s.Task.Timeout, err)
	}
}
