package keep_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/keep"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

func TestReferencesAreKept(t *testing.T) {
	s := &keep.Shelf{Dir: filepath.Join(t.TempDir(), "a", "b")}
	everything := func(client.Ref) bool { return true }
	if all, err := s.List(everything); err != nil || len(all) != 0 {
		t.Errorf("an empty shelf: %v, %v", all, err)
	}
	now := time.Now()
	one, two := client.Ref{Version: 1, Endpoint: "https://a", ID: "1"}, client.Ref{Version: 1, Endpoint: "https://b", ID: "1"}
	for i, ref := range []client.Ref{two, one, one} {
		if err := s.Put(ref, now.Add(time.Duration(i)*time.Second), -1); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "broken.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := s.List(everything)
	if err != nil || len(all) != 2 || all[0].Ref != two || all[1].Ref != one {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := s.List(func(r client.Ref) bool { return r.Endpoint == "https://b" }); err != nil || len(all) != 1 || all[0].Ref != two {
		t.Errorf("%+v, %v", all, err)
	}
	for range 2 { // what is not there is no error
		if err := s.Drop(one); err != nil {
			t.Error(err)
		}
	}
	if all, _ := s.List(everything); len(all) != 1 {
		t.Errorf("%+v", all)
	}
	files, err := filepath.Glob(filepath.Join(s.Dir, "*"))
	if err != nil || len(files) != 2 {
		t.Errorf("files: %q, %v", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others can read it: %v, %v", info.Mode(), err)
	}
}

// TestFilesOfKilledCommandsAreRemoved once nobody can be writing them any more.
func TestFilesOfKilledCommandsAreRemoved(t *testing.T) {
	s := &keep.Shelf{Dir: t.TempDir()}
	if err := s.Put(client.Ref{Version: 1, Endpoint: "https://a", ID: "1"}, time.Now(), -1); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * time.Minute)
	for name, written := range map[string]time.Time{".mcpkiln-old": old, ".mcpkiln-new": time.Now(), "other": old, ".other": old} {
		file := filepath.Join(s.Dir, name)
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chtimes(file, written, written)); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := s.List(func(client.Ref) bool { return true }); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	left, _ := os.ReadDir(s.Dir)
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if len(names) != 4 || slices.Contains(names, ".mcpkiln-old") {
		t.Errorf("left: %q", names)
	}
}

// A reference that somebody writes may lack the schema, against which the result is held (TSK27).
func TestTSK27AKeptSchemaStays(t *testing.T) {
	s := &keep.Shelf{Dir: t.TempDir()}
	for _, schema := range []string{"old", "new", ""} {
		if err := s.Put(client.Ref{Version: 1, Endpoint: "https://a", ID: "1", Schema: schema}, time.Now(), -1); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := s.List(func(client.Ref) bool { return true }); err != nil || len(all) != 1 || all[0].Ref.Schema != "new" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestTSK21AnUnknownTaskIsKeptForItsTime: unknown, expired and somebody else's are one answer.
func TestTSK21AnUnknownTaskIsKeptForItsTime(t *testing.T) {
	left := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		ttls []time.Duration // of each time that it is put
		kept time.Duration
	}{
		{[]time.Duration{-1}, 30 * 24 * time.Hour}, {[]time.Duration{time.Hour}, time.Hour}, {[]time.Duration{time.Hour, -1}, time.Hour},
		{[]time.Duration{-1, time.Minute}, time.Minute}, {[]time.Duration{0}, 30 * 24 * time.Hour}, {nil, -1},
	} {
		s, ref := &keep.Shelf{Dir: t.TempDir()}, client.Ref{Version: 1, Endpoint: "https://a", ID: "1"}
		for _, ttl := range c.ttls {
			if err := s.Put(ref, left, ttl); err != nil {
				t.Fatal(err)
			}
		}
		if until, err := s.Unknown(ref, left.Add(c.kept)); err != nil || c.kept >= 0 && !until.Equal(left.Add(c.kept)) || c.kept < 0 && !until.IsZero() {
			t.Errorf("%v: kept until %v, %v", c.ttls, until, err)
		}
		if until, err := s.Unknown(ref, left.Add(c.kept+1)); err != nil || !until.IsZero() {
			t.Errorf("%v: kept until %v, %v", c.ttls, until, err)
		}
		if all, err := s.List(func(client.Ref) bool { return true }); err != nil || len(all) > 0 {
			t.Errorf("%v: %v, %v", c.ttls, all, err)
		}
	}
}
