package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"
)

// commit is a folder of a git commit as an fs.FS, read with git show.
type commit struct {
	ctx context.Context
	dir string // of the folder on disk; empty for the working directory
	ref string
}

// openCommit returns an error if git is not installed, the folder is in no repository, or the commit is unknown. Nothing is fetched.
func openCommit(ctx context.Context, dir, ref string) (*commit, error) {
	c := &commit{ctx, dir, ref}
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("git is not installed; give a file instead of git:REF")
	}
	if _, err := c.git("rev-parse", "--git-dir"); err != nil {
		if strings.Contains(err.Error(), "not a git repository") {
			return nil, errors.New("its folder is in no git repository: git init and a commit make one, or name a file with the old manifest: --against old.yaml")
		}
		return nil, err
	}
	if ref == "" {
		return nil, errors.New("name a branch, tag or commit: git:main")
	}
	if _, err := c.git("rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}"); err != nil {
		if failure := (*gitError)(nil); errors.As(err, &failure) && failure.status == 1 {
			return nil, fmt.Errorf("git knows no commit %q here, and nothing is fetched: git fetch brings what is missing", ref)
		}
		return nil, err
	}
	return c, nil
}

// gitError is the error of a git command whose exit status is not 0.
type gitError struct {
	command string
	status  int
	said    string // on stderr
}

func (e *gitError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("git %s ended with status %d", e.command, e.status)
	}
	return fmt.Sprintf("git %s says: %s", e.command, e.said)
}

// git runs git. A failure of git itself is a *gitError.
func (c *commit) git(args ...string) ([]byte, error) {
	cmd := exec.CommandContext(c.ctx, "git", args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case c.ctx.Err() != nil:
		return nil, context.Cause(c.ctx)
	case errors.As(err, &exit):
		return nil, &gitError{args[0], exit.ExitCode(), strings.TrimSpace(string(exit.Stderr))}
	}
	return out, err
}

// object returns git's name of a file, whose path is relative to the folder.
func (c *commit) object(name string) string { return c.ref + ":./" + name }

// ReadFile implements fs.ReadFileFS.
func (c *commit) ReadFile(name string) ([]byte, error) {
	f, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	if entry := f.(*committed); !entry.IsDir() {
		return io.ReadAll(entry.Reader)
	}
	return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("is a folder")}
}

// Open implements fs.FS.
func (c *commit) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	kind, err := c.git("cat-file", "-t", c.object(name))
	if err != nil && lacksPath(err) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("commit %s has no such file: %w", c.ref, fs.ErrNotExist)}
	}
	var data []byte
	if err == nil {
		data, err = c.git("show", c.object(name))
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f := &committed{Reader: bytes.NewReader(data), name: path.Base(name), folder: strings.TrimSpace(string(kind)) == "tree"}
	if f.folder {
		_, list, _ := strings.Cut(string(data), "\n\n") // the first line names the tree
		for line := range strings.Lines(list) {
			entry, below := strings.CutSuffix(strings.TrimSuffix(line, "\n"), "/")
			f.entries = append(f.entries, fs.FileInfoToDirEntry(&committed{Reader: bytes.NewReader(nil), name: entry, folder: below}))
		}
	}
	return f, nil
}

// lacksPath reports whether git failed because the commit has no such file.
func lacksPath(err error) bool {
	return strings.Contains(err.Error(), "does not exist in") || strings.Contains(err.Error(), "exists on disk, but not in")
}

// committed is a file or folder of a commit.
type committed struct {
	*bytes.Reader
	name    string
	folder  bool
	entries []fs.DirEntry
}

func (f *committed) Stat() (fs.FileInfo, error) { return f, nil }
func (f *committed) Close() error               { return nil }
func (f *committed) Name() string               { return f.name }
func (f *committed) Size() int64                { return f.Reader.Size() }
func (f *committed) ModTime() time.Time         { return time.Time{} }
func (f *committed) IsDir() bool                { return f.folder }
func (f *committed) Sys() any                   { return nil }

func (f *committed) Mode() fs.FileMode {
	if f.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// ReadDir implements fs.ReadDirFile; it always returns all.
func (f *committed) ReadDir(int) ([]fs.DirEntry, error) { return slices.Clone(f.entries), nil }
