package generator

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// said begins a diagnostic in a golden.
var said = regexp.MustCompile(`^\S.*?(?:error|warning)\[([a-z0-9-]+)\]: `)

// TestDAY06ExplanationsAreMadeOfGoldens: mcpkiln explain has something to say of every code that a golden shows.
func TestDAY06ExplanationsAreMadeOfGoldens(t *testing.T) {
	examples := map[string][]example{}
	for _, pattern := range []string{
		"../testdata/rejected/*.txtar", "../testdata/warned/*.txtar", "../schema/manifest/testdata/rejected/*.txtar", "../schema/manifest/testdata/accepted/*.txtar",
		"internal/emit/testdata/rejected/*.txtar", "internal/emit/testdata/golden/*.txtar",
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: no goldens (%v)", pattern, err)
		}
		for _, path := range paths {
			for code, e := range examplesOf(t, path) {
				examples[code] = append(examples[code], e)
			}
		}
	}
	for _, path := range []string{"../schema/revision/testdata/rejected.txtar", "../schema/revision/testdata/newrevision.txtar"} {
		for code, all := range ruleExamples(t, path) {
			examples[code] = append(examples[code], all...)
		}
	}
	a := &txtar.Archive{Comment: []byte("Made of the goldens of manifests and schemas: go test ./generator -run DAY06 -update\n")}
	for _, code := range slices.Sorted(maps.Keys(examples)) {
		a.Files = append(a.Files, txtar.File{Name: code, Data: explanation(examples[code])})
	}
	if *update {
		if err := os.WriteFile("explanations.txtar", txtar.Format(a), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	shown := map[string][]byte{}
	for _, f := range txtar.Parse(explanations).Files {
		shown[f.Name] = f.Data
	}
	for _, f := range a.Files {
		if !bytes.Equal(shown[f.Name], f.Data) {
			t.Errorf("the page of %s is not what the goldens show: go test ./generator -run DAY06 -update\n%s", f.Name, f.Data)
		}
		delete(shown, f.Name)
	}
	for code := range shown {
		t.Errorf("%s has a page, and no golden shows it", code)
	}
	if len(a.Files) < 100 {
		t.Errorf("%d codes are explained", len(a.Files))
	}
}

// TestDAY06ThePagesOfChangesHaveManifestsThatWork: what the page of a kind of change shows can be written, and gives the change another class.
func TestDAY06ThePagesOfChangesHaveManifestsThatWork(t *testing.T) {
	shown := regexp.MustCompile(`(?m)^    (diff: .*)$`)
	for _, rule := range manifest.Changes {
		m := shown.FindStringSubmatch(Explanations()[rule.ID])
		if m == nil {
			t.Fatalf("the page of %s shows no manifest", rule.ID)
		}
		r, err := Generate(t.Context(), Config{Manifest: Source{"mcpkiln.yaml", []byte(m[1] + "\nserver: {name: s, version: 1.0.0}\ntools: {a: {description: Does it., inputSchema: {type: object}}}\n")}})
		if err != nil || len(r.Diagnostics) > 0 {
			t.Errorf("%s: %v %v", m[1], err, r.Diagnostics)
		}
		loaded, _ := manifest.Parse("mcpkiln.yaml", []byte(m[1]+"\ntools: {}\n")).Load()
		if class := loaded.Classes[rule.ID]; class == "" || class == rule.Class {
			t.Errorf("%s gives %s the class %q", m[1], rule.ID, class)
		}
	}
}

// example is what a golden shows of a code.
type example struct {
	rule  string // its comment
	codes int    // how many others it shows
	text  string // the first diagnostics with the code
}

// maxExamples is how many diagnostics of one golden an explanation shows.
const maxExamples = 3

func examplesOf(t *testing.T, path string) map[string]example {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]example{}
	shown := map[string]int{}
	for _, f := range a.Files {
		if f.Name != "diagnostics" {
			continue
		}
		code := ""
		for line := range strings.Lines(string(f.Data)) {
			if m := said.FindStringSubmatch(line); m != nil {
				code = m[1]
				shown[code]++
			}
			if code != "" && shown[code] <= maxExamples {
				e := all[code]
				e.text += line
				all[code] = e
			}
		}
	}
	for code, e := range all {
		all[code] = example{strings.TrimSpace(string(a.Comment)), len(all), e.text}
	}
	return all
}

// ruleExamples are of the files of a golden of package revision: each is what was changed or given, and after the line "---" what is wrong.
func ruleExamples(t *testing.T, path string) map[string][]example {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]example{}
	for _, f := range a.Files {
		input, found, _ := strings.Cut(string(f.Data), "---\n")
		var codes []string
		for line := range strings.Lines(found) {
			if m := said.FindStringSubmatch(line); m != nil && !slices.Contains(codes, m[1]) {
				codes = append(codes, m[1])
			}
		}
		_, input, _ = strings.Cut(input, "\n") // what was there before, or the name of the revision
		input = strings.ReplaceAll(strings.TrimSuffix(input, "\n"), `\n`, "\n")
		for _, code := range codes {
			rule := "In the folder of a protocol revision (mcpkiln schema new-revision): " + strings.ReplaceAll(f.Name, "-", " ") + "."
			all[code] = append(all[code], example{rule, len(codes), input + "\n\n" + found})
		}
	}
	return all
}

// explanation shows the golden that says the least of other codes, and one more.
func explanation(all []example) []byte {
	slices.SortStableFunc(all, func(a, b example) int { return a.codes - b.codes })
	var b bytes.Buffer
	for _, e := range all[:min(2, len(all))] {
		b.WriteString(e.rule + "\n\n")
		for line := range strings.Lines(e.text) {
			b.WriteString("    " + line)
		}
		b.WriteString("\n")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
