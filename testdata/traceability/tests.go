package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// tests are the names of test functions and txtar files.
type tests map[string]bool

var testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)

// findTests finds what is tested below dir.
func findTests(dir string) (tests, error) {
	found := tests{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		switch {
		case strings.HasSuffix(path, ".txtar"):
			found[filepath.Base(path)] = true
		case strings.HasSuffix(path, "_test.go"):
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range testFunc.FindAllSubmatch(src, -1) {
				found[string(m[1])] = true
			}
		}
		return nil
	})
	return found, err
}

// carry tells whether a test has the id of a rule in its name.
func (t tests) carry(id string) bool {
	for name := range t {
		if strings.Contains(strings.ToUpper(name), id) {
			return true
		}
	}
	return false
}
