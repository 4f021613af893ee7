// Package keep stores on this machine the references of tasks that were left running: some servers do not list them. It is for the commands
// that call tools and follow tasks.
package keep

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/generator/disk"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// Shelf is a folder with a file for each reference. Files are written atomically, and only their owner can read them.
type Shelf struct{ Dir string }

// Open returns the shelf of this user.
func Open() (*Shelf, error) {
	dir, err := os.UserConfigDir()
	return &Shelf{filepath.Join(dir, "mcpkiln", "tasks")}, err
}

// Task is a kept reference.
type Task struct {
	Ref  client.Ref `json:"ref"`
	Left time.Time  `json:"left"` // when it was left running
	// TTL is how long after that the server keeps the task; 0: it does not say, and the reference is kept for maxKept.
	TTL time.Duration `json:"ttl,omitempty"`
}

// maxKept is how long references are kept of tasks of which their servers do not say how long they keep them.
const maxKept = 30 * 24 * time.Hour

// Until returns when the reference is of no use any more, unless the server still knows the task.
func (t *Task) Until() time.Time {
	return t.Left.Add(cmp.Or(t.TTL, maxKept))
}

// file returns the path of the file of a reference.
func (s *Shelf) file(ref client.Ref) string {
	sum := sha256.Sum256([]byte(ref.Endpoint + "\n" + ref.ID))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:16])+".json")
}

// Put keeps a reference, whose task the server keeps for ttl; 0 or less: it does not say. One without a schema or a ttl does not replace one that has it.
func (s *Shelf) Put(ref client.Ref, now time.Time, ttl time.Duration) error {
	t := Task{ref, now.UTC(), max(ttl, 0)}
	if kept, err := read(s.file(ref)); err == nil {
		t.Ref.Schema = cmp.Or(ref.Schema, kept.Ref.Schema)
		t.TTL = cmp.Or(t.TTL, kept.TTL)
	}
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	return disk.Replace(s.file(ref), text, 0o600)
}

// Unknown tells that the server does not know a task as one of the caller's. That is no proof that it is gone (TSK17, TSK21), so the reference is dropped only
// when its time is over. kept is when that will be; zero: it is not kept.
func (s *Shelf) Unknown(ref client.Ref, now time.Time) (kept time.Time, err error) {
	t, err := read(s.file(ref))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return kept, nil
	case err != nil:
		return kept, err
	case now.After(t.Until()):
		return kept, s.Drop(ref)
	}
	return t.Until(), nil
}

// Drop forgets a reference.
func (s *Shelf) Drop(ref client.Ref) error {
	if err := os.Remove(s.file(ref)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func read(file string) (t Task, err error) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	return t, err
}

// strayAfter is how old a file is that Put was writing when its process was killed. A younger one may still be written.
const strayAfter = time.Minute

// removeStray removes a file that Put has left half-written.
func (s *Shelf) removeStray(e fs.DirEntry) {
	if !disk.IsUnfinished(e.Name()) {
		return
	}
	if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > strayAfter {
		_ = os.Remove(filepath.Join(s.Dir, e.Name())) // the next command tries again
	}
}

// List returns the tasks for which keep is true, oldest first. Files that can not be read are left out, and half-written ones removed.
func (s *Shelf) List(keep func(client.Ref) bool) ([]Task, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Task
	for _, e := range entries {
		s.removeStray(e)
		if t, err := read(filepath.Join(s.Dir, e.Name())); err == nil && strings.HasSuffix(e.Name(), ".json") && keep(t.Ref) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b Task) int { return a.Left.Compare(b.Left) })
	return all, nil
}
