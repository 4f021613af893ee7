package generator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/mcpkiln/mcpkiln/schema"
)

// lockVersion is the format of the lock file, raised when an older mcpkiln could not read a newer one.
const lockVersion = 1

// Lock is mcpkiln.lock: what was generated, from what, by which version. Its maps are written in key order.
type Lock struct {
	Comment   string            `json:"comment"`
	Version   int               `json:"version"`
	Tool      string            `json:"tool"`
	Manifest  string            `json:"manifest"`
	Documents map[string]string `json:"documents"`
	Files     map[string]string `json:"files"`
}

const lockComment = "Written by mcpkiln generate. If a merge breaks this file, delete it and generate again."

// newLock hashes what one run read and made. A checkout with CRLF is no change.
func newLock(cfg Config, documents []Source, files []File) Lock {
	l := Lock{
		Comment:   lockComment,
		Version:   lockVersion,
		Tool:      cfg.ToolVersion,
		Manifest:  hash(unixLines(cfg.Manifest.Data)),
		Documents: make(map[string]string, len(documents)),
		Files:     make(map[string]string, len(files)),
	}
	for _, d := range documents {
		l.Documents[d.Path] = hash(unixLines(d.Data))
	}
	for _, f := range files {
		l.Files[f.Path] = hash(f.Content)
	}
	return l
}

// encode gives the lock's bytes; equal locks give equal bytes.
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

// errNewerLock is the error of a lock that a newer mcpkiln wrote.
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
	return l, nil
}

// sameContent reports whether two locks describe the same input and output, whoever made them.
// An upgrade of mcpkiln that changes nothing else leaves the file alone.
func (l Lock) sameContent(o Lock) bool {
	return l.Version == o.Version && l.Manifest == o.Manifest &&
		maps.Equal(l.Documents, o.Documents) && maps.Equal(l.Files, o.Files)
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
