package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/generator/markdown"
)

// compared is what diff found.
type compared struct {
	Manifest string
	Against  string // or From and To
	From, To string
	Changes  []generator.Change
	// Described is how many definitions of the protocol differ only in their descriptions.
	Described int
}

// add adds the changes of another package of the manifest, without those that are there. The order is that of Diff.
func (c *compared) add(more []generator.Change) {
	for _, x := range more {
		if !slices.ContainsFunc(c.Changes, func(o generator.Change) bool { return o.ID == x.ID && sentence(o) == sentence(x) }) {
			c.Changes = append(c.Changes, x)
		}
	}
	slices.SortStableFunc(c.Changes, generator.CompareChanges)
}

func (c *compared) count(class generator.Class) (n int) {
	for _, x := range c.Changes {
		if x.Class == class {
			n++
		}
	}
	return n
}

// what names both sides of the comparison.
func (c *compared) what() string {
	if c.From != "" {
		return c.Manifest + " from " + c.From + " to " + c.To
	}
	return c.Manifest + " against " + c.Against
}

// summary counts the changes by class.
func (c *compared) summary() string {
	if len(c.Changes) == 0 && c.From == "" {
		return "no change"
	}
	var all []string
	for _, class := range generator.Classes {
		if n := c.count(class); n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, class))
		}
	}
	if c.From != "" {
		all = append(all, fmt.Sprintf("%d definitions described in other words", c.Described))
	}
	return strings.Join(all, ", ")
}

// printer returns the function that prints the result in the format of the flags.
func (o *diffFlags) printer() (func(io.Writer, *compared) error, error) {
	print, ok := map[string]func(io.Writer, *compared) error{
		"text": printDiffText, "json": printDiffJSON, "github": printDiffAnnotations, "markdown": printDiffMarkdown,
	}[o.format]
	if !ok {
		return nil, fmt.Errorf("--format %s: it is text, json, github or markdown", o.format)
	}
	return print, nil
}

// headings has the heading of each class.
var headings = map[generator.Class]string{
	generator.Breaking: "Breaking", generator.AskAgain: "Clients ask again", generator.Compatible: "Compatible", generator.Documentation: "Documentation",
}

// heading returns the heading of a class. A new revision breaks no client that stays on the old one.
func (c *compared) heading(class generator.Class) string {
	if c.From != "" && class == generator.Breaking {
		return "Clients have to follow"
	}
	return headings[class]
}

// sentence returns a change with its subject and revisions.
func sentence(x generator.Change) string {
	text := x.Message
	if x.Subject != "" {
		text = x.Subject + ": " + text
	}
	if len(x.Revisions) > 0 {
		text += " (" + strings.Join(x.Revisions, ", ") + ")"
	}
	return text
}

func printDiffText(out io.Writer, c *compared) error {
	for _, class := range generator.Classes {
		if c.count(class) == 0 {
			continue
		}
		fmt.Fprintf(out, "%s\n", c.heading(class))
		for i, x := range c.Changes {
			if x.Class != class {
				continue
			}
			fmt.Fprintf(out, "  %s: %s [%s]\n", x.Axis, sentence(x), x.ID)
			last := i+1 == len(c.Changes) || c.Changes[i+1].ID != x.ID
			if x.Do != "" && class == generator.Breaking && last {
				fmt.Fprintf(out, "      %s\n", x.Do)
			}
		}
		fmt.Fprintln(out)
	}
	_, err := fmt.Fprintf(out, "%s: %s\n", c.what(), c.summary())
	return err
}

// The types of --format json, which programs read: members are added, never renamed.
type (
	comparedJSON struct {
		Manifest  string       `json:"manifest"`
		Against   string       `json:"against,omitempty"`
		From      string       `json:"from,omitempty"`
		To        string       `json:"to,omitempty"`
		Described int          `json:"described,omitempty"`
		Summary   string       `json:"summary"`
		Changes   []changeJSON `json:"changes"`
	}
	changeJSON struct {
		ID        string   `json:"id"`
		Class     string   `json:"class"`
		Axis      string   `json:"axis"`
		Subject   string   `json:"subject,omitempty"`
		Message   string   `json:"message"`
		Do        string   `json:"do,omitempty"`
		Revisions []string `json:"revisions,omitempty"`
		File      string   `json:"file,omitempty"`
		Line      int      `json:"line,omitempty"`
		Column    int      `json:"column,omitempty"`
		Pointer   string   `json:"pointer,omitempty"`
	}
)

func printDiffJSON(out io.Writer, c *compared) error {
	item := comparedJSON{Manifest: c.Manifest, Against: c.Against, From: c.From, To: c.To, Described: c.Described, Summary: c.summary(), Changes: []changeJSON{}}
	for _, x := range c.Changes {
		item.Changes = append(item.Changes, changeJSON{x.ID, string(x.Class), string(x.Axis), x.Subject, x.Message, x.Do, x.Revisions,
			filepath.ToSlash(x.Pos.File), int(x.Pos.Line), int(x.Pos.Column), x.Pointer})
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(item)
}

// printDiffAnnotations writes workflow commands, one a line. What is gone has no line in the new file.
func printDiffAnnotations(out io.Writer, c *compared) error {
	for _, x := range c.Changes {
		level := map[generator.Class]string{generator.Breaking: "error", generator.AskAgain: "warning"}[x.Class]
		if level == "" {
			level = "notice"
		}
		place := "file=" + annotated(c.Manifest)
		if x.Pos.Line > 0 && !x.Gone {
			place += fmt.Sprintf(",line=%d,col=%d", x.Pos.Line, x.Pos.Column)
		}
		fmt.Fprintf(out, "::%s %s,title=%s::%s\n", level, place, annotated(x.ID), annotation(strings.TrimSpace(sentence(x)+". "+x.Do)))
	}
	_, err := fmt.Fprintf(out, "::notice file=%s::%s\n", annotated(c.Manifest), annotation(c.what()+": "+c.summary()))
	return err
}

// printDiffMarkdown writes a comment for a pull request. Changes that need no action are folded.
func printDiffMarkdown(out io.Writer, c *compared) error {
	sign := "✅"
	if c.count(generator.Breaking) > 0 {
		sign = "❌"
	}
	fmt.Fprintf(out, "### %s %s: %s\n\n", sign, markdown.Code(c.what()), c.summary())
	for _, class := range generator.Classes {
		if c.count(class) == 0 {
			continue
		}
		folded := !slices.Contains(generator.Classes[:2], class)
		if folded {
			fmt.Fprintf(out, "<details><summary>%s (%d)</summary>\n\n", c.heading(class), c.count(class))
		} else {
			fmt.Fprintf(out, "**%s**\n\n", c.heading(class))
		}
		fmt.Fprint(out, "| for | change | id | what to do |\n|---|---|---|---|\n")
		for _, x := range c.Changes {
			if x.Class == class {
				fmt.Fprintf(out, "| %s | %s | `%s` | %s |\n", x.Axis, markdown.Text(sentence(x)), x.ID, markdown.Text(x.Do))
			}
		}
		if fmt.Fprintln(out); folded {
			fmt.Fprint(out, "</details>\n\n")
		}
	}
	return nil
}
