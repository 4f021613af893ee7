// Package colour makes diagnostics easier to find on a terminal. It is for the commands that print them.
package colour

import (
	"io"
	"os"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
)

// severity matches the position, severity and code that begin a diagnostic.
var severity = lazyregexp.New(`(?m)^((?:[^\n ]+: )?)(error|warning)(\[[a-z0-9-]+\]:)`)

// caret matches the line that points at the position.
var caret = lazyregexp.New(`(?m)^( +\^)$`)

const (
	red    = "\x1b[1;31m"
	yellow = "\x1b[1;33m"
	green  = "\x1b[32m"
	reset  = "\x1b[m"
)

// Writer colours the diagnostics that are written to it, each in one write.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ w io.Writer }

// Write implements io.Writer.
func (w writer) Write(p []byte) (int, error) {
	text := severity().ReplaceAllFunc(p, func(match []byte) []byte {
		part := severity().FindSubmatch(match)
		colour := red
		if string(part[2]) == "warning" {
			colour = yellow
		}
		return []byte(string(part[1]) + colour + string(part[2]) + string(part[3]) + reset)
	})
	text = caret().ReplaceAll(text, []byte(green+"$1"+reset))
	if _, err := w.w.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Wanted reports whether to write colours to w: it is a terminal, and NO_COLOR is not set (no-color.org).
func Wanted(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
