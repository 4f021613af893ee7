package disk_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/disk"
)

// TestDAY03AFileIsReplacedWhole: one that is there keeps its permissions and the links to it, and nothing is left beside it.
func TestDAY03AFileIsReplacedWhole(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := disk.Replace(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if err := disk.Replace(link, []byte("newer"), 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	info, _ := os.Lstat(path)
	if err != nil || string(text) != "newer" || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%q, %v, %v", text, info.Mode(), err)
	}
	if to, err := os.Readlink(link); to != "file" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if err := disk.Replace(filepath.Join(dir, "missing", "file"), nil, 0o600); err == nil {
		t.Error("a file was written into no folder")
	}
	if err := disk.Replace(dir, nil, 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("there are %v, %v", left, err)
	}
}
