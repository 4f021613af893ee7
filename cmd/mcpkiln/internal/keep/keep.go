// Package keep stores on this machine the references of tasks that were left running: some servers do not list them. It is for the commands
// that call tools and follow tasks.
package keep

import (
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
}

// file returns the path of the file of a reference.
func (s *Shelf) file(ref client.Ref) string {
	sum := sha256.Sum256([]byte(ref.Endpoint + "\n" + ref.ID))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:16])+".json")
}

// Put keeps a reference. One without a schema does not replace one that has it.
func (s *Shelf) Put(ref client.Ref, now time.Time) error {
	if kept, err := read(s.file(ref)); err == nil && ref.Schema == "" {
		ref.Schema = kept.Ref.Schema
	}
	text, err := json.Marshal(Task{ref, now.UTC()})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	return disk.Replace(s.file(ref), text, 0o600)
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

// List returns the tasks for which keep is true, oldest first. Files that can not be read are left out.
func (s *Shelf) List(keep func(client.Ref) bool) ([]Task, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Task
	for _, e := range entries {
		if t, err := read(filepath.Join(s.Dir, e.Name())); err == nil && strings.HasSuffix(e.Name(), ".json") && keep(t.Ref) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b Task) int { return a.Left.Compare(b.Left) })
	return all, nil
}
