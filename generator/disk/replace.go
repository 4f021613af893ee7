package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// replaceName is what new files are called until they are complete.
const replaceName = ".mcpkiln-"

// IsUnfinished reports whether a file has the name of one that Replace writes: if its process was killed, it stays.
func IsUnfinished(name string) bool { return strings.HasPrefix(name, replaceName) }

// Replace writes a file whole or not at all: first under another name in its folder, then it is renamed. perm is for a new file, whatever the umask;
// a file that exists keeps its permissions, and a link to it stays a link.
func Replace(path string, data []byte, perm fs.FileMode) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil {
		perm = info.Mode().Perm()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), replaceName)
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(perm), tmp.Close()); err == nil {
		err = OS{}.Rename(tmp.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(tmp.Name()))
	}
	return err
}
