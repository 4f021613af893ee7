package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/schema"
)

// watchInterval is how often each file is polled with stat: the standard library has no file notifications.
const watchInterval = 300 * time.Millisecond

// watch generates, and again whenever a file changes that was read, until it is interrupted. Findings are printed and do not end it.
func (o *overrides) watch(cmd *cobra.Command, path string, options generator.Options) error {
	look := time.NewTicker(watchInterval)
	defer look.Stop()
	for {
		s, err := o.load(path)
		seen := s.stamp(o.schemaFile)
		if err == nil {
			err = s.generate(cmd, options)
		} else if errors.As(err, new(schema.Diagnostics)) { // the manifest may be half edited
			fmt.Fprintln(cmd.ErrOrStderr(), err)
			err = errFindings
		}
		if cmd.Context().Err() != nil {
			return nil
		}
		if err != nil && !errors.Is(err, errFindings) {
			return err
		}
		if s.outdated() {
			continue
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "watching %s; an interrupt ends it\n", path)
		for s.stamp(o.schemaFile) == seen {
			select {
			case <-cmd.Context().Done():
				return nil
			case <-look.C:
			}
		}
	}
}

// stamp returns a text that changes when a file changes that was read.
func (s *sources) stamp(schemaFile string) string {
	var b strings.Builder
	add := func(path string) {
		info, err := os.Stat(path)
		if err != nil {
			fmt.Fprintln(&b, path, err)
			return
		}
		fmt.Fprintln(&b, path, info.Size(), info.ModTime().UnixNano())
	}
	add(s.config.Manifest.Path)
	if schemaFile != "" {
		add(schemaFile)
	}
	for _, f := range s.config.Files {
		add(filepath.Join(s.base, filepath.FromSlash(f.Path)))
	}
	for _, f := range s.config.Folders {
		_ = filepath.WalkDir(filepath.Join(s.base, filepath.FromSlash(f.Path)), func(path string, _ fs.DirEntry, _ error) error {
			add(path)
			return nil
		})
	}
	return b.String()
}
