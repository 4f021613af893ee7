package console

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
)

// maxQuoted limits the lines of a message: who asks, which stands below it, is to be seen with it in a window of 24 lines.
const maxQuoted = 12

// quote prints text of a server above a form, behind a line that says what it is; at most limit lines of it, all if limit is 0.
func (t *Terminal) quote(what, text string, limit int) {
	width, _ := t.size()
	lines := wrapped(strings.TrimSpace(plain.Text(text)), width-plain.MarkWidth-1)
	more := ""
	if limit > 0 && len(lines) > limit {
		more = fmt.Sprintf("\n… %d more lines are not shown", len(lines)-limit)
		lines = lines[:limit]
	}
	_, _ = fmt.Fprintln(t.paint, what+"\n"+plain.Marked(lines)+more)
}

// size returns the width and height of the window, in cells.
func (t *Terminal) size() (width, height int) {
	width, height, err := term.GetSize(t.out.Fd())
	if err != nil {
		return defaultSize(0, 0)
	}
	return defaultSize(width, height)
}

// defaultSize replaces the size of a window that has none.
func defaultSize(width, height int) (int, int) {
	if width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// wrapped breaks text into lines of at most width cells, between words where it can, and joins empty lines. A line that the terminal broke would
// lack its mark, so no character counts for less than any terminal makes of it.
func wrapped(text string, width int) (lines []string) {
	width = max(width, 2)
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\t", "    "), "\n") {
		if line = strings.TrimRight(line, " "); line == "" && len(lines) > 0 && lines[len(lines)-1] == "" {
			continue
		}
		for {
			end, blank := fitting(line, width)
			if end == len(line) {
				break
			}
			if blank > 0 {
				end = blank
			}
			lines = append(lines, line[:end])
			line = strings.TrimPrefix(line[end:], " ")
		}
		lines = append(lines, line)
	}
	return lines
}

// fitting returns how many bytes of a line are at most width cells, and where the last space of them is; -1 for none.
func fitting(line string, width int) (end, blank int) {
	cells, blank := 0, -1
	for i, r := range line {
		if cells += cellsOf(r); cells > width {
			return i, blank
		}
		if r == ' ' {
			blank = i
		}
	}
	return len(line), blank
}

// firstWide is the first character that some terminals draw in two cells.
const firstWide = 0x1100

func cellsOf(r rune) int {
	n := ansi.StringWidth(string(r))
	if n == 1 && r >= firstWide {
		return 2
	}
	return n
}
