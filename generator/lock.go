package generator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/mcpkiln/mcpkiln/schema"
)

// LockName is the name of the lock file, in the output directory.
const LockName = "mcpkiln.lock"

// lockVersion is the version of the lock file's format, raised when an older mcpkiln could not read a newer file.
const lockVersion = 2

// Lock is mcpkiln.lock: the version of mcpkiln, the manifest and the flags that a package was generated with. Nothing in it changes with a tool,
// so branches that add tools merge. Without it a directory is still recognised by its files.
type Lock struct {
	Comment  string            `json:"comment"`
	Version  int               `json:"version"`
	Tool     string            `json:"tool"`            // version of mcpkiln that last changed a file
	Manifest string            `json:"manifest"`        // from the module's root, slash separated
	Flags    map[string]string `json:"flags,omitempty"` // Config.Flags
	// Files has the hashes of the generated files in a lock file of version 1; since version 2 each file has its hash itself.
	Files map[string]string `json:"files,omitempty"`
}

const lockComment = "Written by mcpkiln generate. If a merge breaks this file, generate again."

func newLock(tool, manifest string, flags map[string]string) Lock {
	return Lock{Comment: lockComment, Version: lockVersion, Tool: tool, Manifest: manifest, Flags: flags}
}

// encode gives the text of the lock file; equal locks give equal bytes.
func (l Lock) encode() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(l); err != nil {
		panic(fmt.Sprintf("generator: encoding strings and maps of strings can not fail: %v", err))
	}
	return b.Bytes()
}

// errNewerLock is the error for a lock file that a newer mcpkiln wrote.
var errNewerLock = errors.New("a newer mcpkiln wrote it")

// parseLock reads a lock file. It refuses what another program or a newer mcpkiln wrote.
func parseLock(data []byte) (Lock, error) {
	var l Lock
	if schema.HasConflict(data) {
		return Lock{}, errors.New("a merge left conflict markers in it")
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return Lock{}, fmt.Errorf("it is not the JSON that mcpkiln writes: %w", err)
	}
	if l.Version > lockVersion {
		return Lock{}, fmt.Errorf("%w: its version is %d and this mcpkiln knows up to %d", errNewerLock, l.Version, lockVersion)
	}
	if l.Version < 1 {
		return Lock{}, fmt.Errorf("%d is no version of it", l.Version)
	}
	if l.Version == 1 {
		l.Manifest = "" // it was a hash
	}
	return l, nil
}

// isCopy reports whether a flag chose the directory: then it stays when the manifest names another one.
func (l Lock) isCopy() bool {
	return l.Flags["out"] != "" || l.Flags["client"] != "" || l.Flags["docs"] != ""
}

// sameBut reports whether two locks are equal except for the version of mcpkiln.
func (l Lock) sameBut(o Lock) bool {
	return l.Version == o.Version && l.Manifest == o.Manifest && maps.Equal(l.Flags, o.Flags)
}
