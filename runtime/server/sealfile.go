package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// KeepSealKeys reads the keys in a file for WithSealKeys, as ParseSealKeys does. If there is no such file, it makes one with a new key, which only the
// user of this process may read; a link to a file that is not there is refused. Beside tasks that survive a restart it lets sessions and retries survive, too (LET18). One process at a time may call it for a
// file; replicas need the same keys from the operator.
func KeepSealKeys(file string) (keys [][]byte, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = makeSealKey(file)
	}
	if err != nil {
		return nil, fmt.Errorf("seal keys: %w", err)
	}
	if keys, err = ParseSealKeys(string(text)); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return keys, nil
}

// makeSealKey makes a file with a new key. A crash leaves no part of it under its name. A link stays: it leads to a secret that is not mounted yet, and
// what was sealed with that would be lost.
func makeSealKey(file string) (text []byte, err error) {
	if target, err := os.Readlink(file); err == nil {
		return nil, fmt.Errorf("%s is a link to %s, which is not there: mount or restore that file, or remove the link, and a new key is made", file, target)
	}
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+"-*") // with mode 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name()) // fails once it has its name
	text = []byte(rand.Text() + rand.Text() + "\n")
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	return text, os.Rename(f.Name(), file)
}
