// Package disk writes files so that a killed run leaves none half-written: four operations that a test can make fail at any
// moment, a lock that keeps two runs apart, and the replacement of one file. Differences between systems are handled here. It is for package
// generator and the command.
package disk

import (
	"errors"
	"os"
	"time"
)

// Disk changes a file system. Its methods behave as those of package os.
type Disk interface {
	Mkdir(path string) error
	WriteFile(path string, data []byte) error
	// Rename replaces a file.
	Rename(from, to string) error
	Remove(path string) error
}

// OS is the disk of this machine.
type OS struct{}

// Mkdir makes one folder.
func (OS) Mkdir(path string) error { return os.Mkdir(path, 0o777) }

// WriteFile writes a file that no other program reads yet.
func (OS) WriteFile(path string, data []byte) error { return os.WriteFile(path, data, 0o666) }

// Rename moves a file to its place.
func (OS) Rename(from, to string) error {
	return patiently(func() error { return os.Rename(from, to) })
}

// Remove removes a file or an empty folder.
func (OS) Remove(path string) error { return patiently(func() error { return os.Remove(path) }) }

// patience is how long another program, such as a virus scanner, may keep a file open before an operation on it fails.
const patience = 2 * time.Second

// patiently repeats an operation for as long as it fails because another program has the file open, which happens only on Windows.
func patiently(do func() error) error {
	for wait, waited := time.Millisecond, time.Duration(0); ; wait *= 2 {
		err := do()
		if err == nil || waited >= patience || !inUse(err) {
			return err
		}
		time.Sleep(wait)
		waited += wait
	}
}

// errHeld says that another run has the lock.
var errHeld = errors.New("another mcpkiln is writing there")
