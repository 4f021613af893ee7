package main

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/generator/markdown"
)

// checkPrinter prints what check found in one of the formats, and ends the command with errFindings if there is anything to do.
func checkPrinter(cmd *cobra.Command, format string, namesOnly bool) (func([]checked) error, error) {
	out, errs := cmd.OutOrStdout(), cmd.ErrOrStderr()
	printers := map[string]func([]checked) error{
		"text":     func(all []checked) error { return printText(out, errs, all, namesOnly) },
		"json":     func(all []checked) error { return printCheckJSON(out, all) },
		"github":   func(all []checked) error { return printAnnotations(out, all) },
		"markdown": func(all []checked) error { return printMarkdown(out, all, namesOnly) },
	}
	print, ok := printers[format]
	if !ok {
		return nil, fmt.Errorf("--format %s: it is text, json, github or markdown", format)
	}
	return func(all []checked) error {
		if err := print(all); err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(c checked) bool { return c.failed() }) {
			return errFindings
		}
		return nil
	}, nil
}

// The types of --format json, which programs read: members are added, never renamed.
type (
	checkJSON struct {
		Manifest    string           `json:"manifest"`
		Command     string           `json:"command"` // brings the package up to date
		Summary     string           `json:"summary,omitempty"`
		Diagnostics []diagnosticJSON `json:"diagnostics"`
		Findings    []findingJSON    `json:"findings"`
	}
	diagnosticJSON struct {
		File     string `json:"file,omitempty"`
		Line     int    `json:"line,omitempty"`
		Column   int    `json:"column,omitempty"`
		Pointer  string `json:"pointer,omitempty"`
		Severity string `json:"severity"`
		Code     string `json:"code"`
		Message  string `json:"message"`
		Hint     string `json:"hint,omitempty"`
	}
	findingJSON struct {
		File string                `json:"file"`
		Kind generator.FindingKind `json:"kind"`
		From string                `json:"from,omitempty"` // versions of mcpkiln
		To   string                `json:"to,omitempty"`
		Diff string                `json:"diff,omitempty"`
	}
)

// printCheckJSON writes one array, an item for each package.
func printCheckJSON(out io.Writer, all []checked) error {
	list := []checkJSON{}
	for _, c := range all {
		item := checkJSON{Manifest: filepath.ToSlash(c.manifest), Command: c.command, Diagnostics: []diagnosticJSON{}, Findings: []findingJSON{}}
		if len(c.findings) > 0 {
			item.Summary = generator.Summary(c.findings)
		}
		for _, d := range c.diagnostics {
			item.Diagnostics = append(item.Diagnostics, diagnosticJSON{filepath.ToSlash(d.Pos.File), int(d.Pos.Line), int(d.Pos.Column), d.Pointer, d.Severity.String(), d.Code, d.Message, d.Hint})
		}
		for _, f := range c.findings {
			item.Findings = append(item.Findings, findingJSON{filepath.ToSlash(f.Path), f.Kind, f.From, f.To, f.Diff})
		}
		list = append(list, item)
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(list)
}

// printAnnotations writes workflow commands, one a line, which GitHub shows at the file.
//
//	::error file=mcpkiln.yaml,line=3,col=5,title=unknown-key::a tool has no key "x"
func printAnnotations(out io.Writer, all []checked) error {
	for _, c := range all {
		for _, d := range c.diagnostics {
			place := "file=" + annotated(d.Pos.File)
			if d.Pos.Line > 0 {
				place += fmt.Sprintf(",line=%d,col=%d", d.Pos.Line, d.Pos.Column)
			}
			message := d.Message
			if d.Hint != "" {
				message += "; " + d.Hint
			}
			fmt.Fprintf(out, "::%s %s,title=%s::%s\n", d.Severity, place, annotated(d.Code), annotation(message))
		}
		for _, f := range c.findings {
			fmt.Fprintf(out, "::error file=%s,title=%s::%s\n", annotated(f.Path), f.Kind, annotation(strings.TrimPrefix(f.String(), f.Path+": ")))
		}
		if len(c.findings) > 0 {
			fmt.Fprintf(out, "::notice file=%s::%s\n", annotated(c.manifest), annotation(generator.Summary(c.findings)+"\nrun: "+c.command))
		}
	}
	return nil
}

// annotation escapes the message of a workflow command; annotated escapes a property, such as a path.
func annotation(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func annotated(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(annotation(filepath.ToSlash(s)))
}

// printMarkdown writes a comment for a pull request.
func printMarkdown(out io.Writer, all []checked, namesOnly bool) error {
	for _, c := range all {
		if !c.failed() {
			fmt.Fprintf(out, "### ✅ %s: generated files are up to date\n\n", markdown.Code(c.manifest))
			continue
		}
		if c.diagnostics.HasErrors() {
			fmt.Fprintf(out, "### ❌ %s can not be generated\n\n", markdown.Code(c.manifest))
		} else {
			fmt.Fprintf(out, "### ❌ %s: %s\n\nRun %s.\n\n", markdown.Code(c.manifest), markdown.Text(generator.Summary(c.findings)), markdown.Code(c.command))
		}
		for _, d := range c.diagnostics {
			fmt.Fprintln(out, markdown.Block("", d.Render(c.sources.text(d.Pos.File))))
		}
		printMarkdownFindings(out, c.findings, namesOnly)
	}
	return nil
}

func printMarkdownFindings(out io.Writer, findings []generator.Finding, namesOnly bool) {
	if len(findings) == 0 {
		return
	}
	fmt.Fprint(out, "| file | is |\n|---|---|\n")
	for _, f := range findings {
		fmt.Fprintf(out, "| %s | %s |\n", markdown.Code(filepath.ToSlash(f.Path)), f.Kind)
	}
	fmt.Fprintln(out)
	for _, f := range findings {
		if f.Diff != "" && !namesOnly {
			fmt.Fprintf(out, "<details><summary><code>%s</code></summary>\n\n%s\n</details>\n\n", html.EscapeString(filepath.ToSlash(f.Path)), markdown.Block("diff", f.Diff))
		}
	}
}
