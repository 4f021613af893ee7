package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestGoldensAndFunctionsCarryRules: a rule is proved by a test function, or by a txtar file, with its id in the name.
func TestGoldensAndFunctionsCarryRules(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"val11-methods.txtar": "", "a_test.go": "package a\n\nfunc TestCAN02Ends(t *testing.T) {}\n", "b.go": "package a\n\nfunc TestREV01() {}\n",
		"node_modules/let01.txtar": "", ".git/let02.txtar": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	found, err := findTests(dir)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"VAL11": true, "CAN02": true, "REV01": false, "LET01": false, "LET02": false} {
		if found.carry(id) != want {
			t.Errorf("%s is carried: %v", id, !want)
		}
	}
}
