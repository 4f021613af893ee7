package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// LET18: a key that the server made is there again after a restart, and nobody else may read it. What is no key is refused with the name of its file.
func TestLET18AKeyIsKeptInAFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "tasks.db-key")
	first, err := KeepSealKeys(file)
	if err != nil || len(first) != 1 {
		t.Fatal(len(first), err)
	}
	again, err := KeepSealKeys(file)
	if err != nil || len(again) != 1 || !bytes.Equal(first[0], again[0]) {
		t.Errorf("another key after a restart, %v", err)
	}
	if other, err := KeepSealKeys(file + "2"); err != nil || bytes.Equal(first[0], other[0]) {
		t.Errorf("the same key in another file, %v", err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode() != 0o600 {
		t.Error(info, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Error(files, err)
	}
	if err := os.WriteFile(file, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := KeepSealKeys(file); err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "short") {
		t.Error(err)
	}
	if _, err := KeepSealKeys(filepath.Join(dir, "none", "key")); err == nil || !strings.Contains(err.Error(), "none") {
		t.Error(err)
	}
}

// LET18: a link to a secret that is not mounted yet is not replaced by a new key, with which nothing that was sealed could be opened.
func TestLET18ALinkToAKeyThatIsNotThereIsRefused(t *testing.T) {
	dir := t.TempDir()
	link, secret := filepath.Join(dir, "tasks.db-key"), filepath.Join(dir, "secret")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	if _, err := KeepSealKeys(link); err == nil || !strings.Contains(err.Error(), link+" is a link to "+secret+", which is not there") {
		t.Errorf("the error is %v", err)
	}
	key := strings.Repeat("k", 40)
	if err := os.WriteFile(secret, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := ParseSealKeys(key)
	if err != nil {
		t.Fatal(err)
	}
	if keys, err := KeepSealKeys(link); err != nil || len(keys) != 1 || !bytes.Equal(keys[0], want[0]) {
		t.Errorf("the key that is mounted later is not read: %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Error(files, err)
	}
}
