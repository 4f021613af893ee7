//go:build official

package revision

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/mcpkiln/mcpkiln/schema"
)

var shared = flag.String("shared", "", "folder with schema/REVISION/schema.json as published")

// officialFile is where the document of a revision is published.
func officialFile(revision, document string) string {
	if document == "tasks.json" {
		revision = "tasks-extension"
	}
	return filepath.Join(*shared, "schema", revision, "schema.json")
}

func official(t *testing.T, file string) (*schema.Document, []byte) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	root, ds := schema.Parse(file, data)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	doc, ds := schema.NewDocument(root, nil)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	return doc, data
}

func load(t *testing.T, name string, options ...Option) *Revision {
	t.Helper()
	r, ds := Load(name, options...)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	for _, d := range r.Documents {
		d.Definitions() // tests look at all of them
	}
	return r
}

func TestOfficialREV04DocumentsHaveTheSameStructure(t *testing.T) {
	for _, name := range Names() {
		core := load(t, name, WithDocument(embeddedCore(t, name))).Documents[0] // with what the pages add to it, as ours has it
		for i, d := range load(t, name).Documents {
			theirs := core.Document
			if i > 0 {
				theirs, _ = official(t, officialFile(name, d.Name))
			}
			for _, line := range differences(d.Document, theirs) {
				t.Errorf("%s/%s%s", name, d.Name, line)
			}
		}
	}
}

// The comparison is worth what it notices: one change of each kind has to show.
func TestOfficialComparisonNoticesChanges(t *testing.T) {
	file := officialFile("2025-11-25", "core.json")
	theirs, data := official(t, file)
	for _, change := range [][2]string{
		{`"const": "tools/call"`, `"const": "tool/call"`},
		{`"ToolChoice": {`, `"ToolChoices": {`},
		{`"lastModified": {`, `"modified": {`},
		{`"enum": [`, `"enum": [ "other",`},
		{`"required": [`, `"required": [ "other",`},
		{`"$ref": "#/$defs/Task"`, `"$ref": "#/$defs/Tool"`},
		{`"type": "integer"`, `"type": "number"`},
		{`"format": "uri"`, `"format": "uri-reference"`},
		{`"maximum": 1`, `"maximum": 2`},
		{`"anyOf": [`, `"oneOf": [`},
		{`"additionalProperties": {}`, `"additionalProperties": false`},
	} {
		changed := bytes.Replace(data, []byte(change[0]), []byte(change[1]), 1)
		root, ds := schema.Parse(file, changed)
		if bytes.Equal(changed, data) || len(ds) > 0 {
			t.Fatalf("%s: nothing to change, %v", change[0], ds)
		}
		doc, _ := schema.NewDocument(root, nil)
		if len(differences(doc, theirs)) == 0 {
			t.Errorf("%s for %s was not noticed", change[1], change[0])
		}
	}
}

// differences lists what two documents do not have in common, one line each: definitions and every keyword of them
// that says something about values.
func differences(ours, theirs *schema.Document) []string {
	c := comparison{}
	c.members("/$defs", ours.Definitions(), theirs.Definitions())
	return c.lines
}

type comparison struct{ lines []string }

func (c *comparison) members(at string, ours, theirs []schema.Member) {
	index := func(list []schema.Member, key string) *schema.Node {
		for _, m := range list {
			if m.Key == key {
				return m.Value
			}
		}
		return nil
	}
	for _, m := range ours {
		if index(theirs, m.Key) == nil {
			c.lines = append(c.lines, fmt.Sprintf(" %s/%s: not in the official document", at, m.Key))
		}
	}
	for _, m := range theirs {
		if own := index(ours, m.Key); own == nil {
			c.lines = append(c.lines, fmt.Sprintf(" %s/%s: missing", at, m.Key))
		} else {
			c.schema(at+"/"+m.Key, own, m.Value)
		}
	}
}

// annotations say nothing about values. $schema inside a definition repeats that of the document.
var annotations = []string{"description", "title", "$comment", "examples", "deprecated", "$schema"}

func (c *comparison) schema(at string, ours, theirs *schema.Node) {
	if ours.Kind != schema.Object || theirs.Kind != schema.Object {
		c.value(at, ours, theirs)
		return
	}
	for _, key := range keywords(ours, theirs) {
		a, b := ours.Get(key), theirs.Get(key)
		switch at := at + "/" + key; {
		case a == nil:
			c.lines = append(c.lines, fmt.Sprintf(" %s: missing", at))
		case b == nil:
			c.lines = append(c.lines, fmt.Sprintf(" %s: not in the official document", at))
		case key == "properties":
			c.members(at, a.Members, b.Members)
		case key == "anyOf" || key == "oneOf" || key == "allOf":
			c.list(at, a, b)
		case key == "items" || key == "additionalProperties" || key == "propertyNames" || key == "not":
			c.schema(at, a, b)
		default:
			c.value(at, a, b)
		}
	}
}

func keywords(nodes ...*schema.Node) []string {
	var keys []string
	for _, n := range nodes {
		for _, m := range n.Members {
			if !slices.Contains(annotations, m.Key) && !slices.Contains(keys, m.Key) {
				keys = append(keys, m.Key)
			}
		}
	}
	return keys
}

func (c *comparison) list(at string, ours, theirs *schema.Node) {
	if len(ours.Items) != len(theirs.Items) {
		c.lines = append(c.lines, fmt.Sprintf(" %s: %d members, not %d", at, len(ours.Items), len(theirs.Items)))
		return
	}
	for i := range ours.Items {
		c.schema(fmt.Sprintf("%s/%d", at, i), ours.Items[i], theirs.Items[i])
	}
}

// value compares what is no schema: exactly, but enum, required and type as sets.
func (c *comparison) value(at string, ours, theirs *schema.Node) {
	if a, b := set(ours), set(theirs); a != b {
		c.lines = append(c.lines, fmt.Sprintf(" %s: %s, not %s", at, a, b))
	}
}

func set(n *schema.Node) string {
	if n.Kind != schema.Array {
		return string(n.JSON())
	}
	var all []string
	for _, item := range n.Items {
		all = append(all, string(item.JSON()))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// Our descriptions are our own: no run of eight words is also in the official text.
func TestOfficialREV04DescriptionsAreOurOwn(t *testing.T) {
	const run = 8
	for _, name := range Names() {
		for _, d := range load(t, name).Documents {
			theirs, _ := official(t, officialFile(name, d.Name))
			known := map[string]bool{}
			descriptions(theirs.Root, func(n *schema.Node) {
				for _, r := range runs(n.Text, run) {
					known[r] = true
				}
			})
			count := 0
			descriptions(d.Root, func(n *schema.Node) {
				count++
				for _, r := range runs(n.Text, run) {
					if known[r] {
						t.Errorf("%s: %q is the official text", n.Pos, r)
					}
				}
			})
			if count < len(d.Definitions()) || len(known) == 0 {
				t.Errorf("%s/%s: only %d descriptions compared with %d runs", name, d.Name, count, len(known))
			}
		}
	}
}

func descriptions(root *schema.Node, visit func(n *schema.Node)) {
	root.Walk(func(n *schema.Node) bool {
		if d := n.Get("description"); d.Is(schema.String) {
			visit(d)
		}
		return true
	})
}

func runs(text string, length int) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	var all []string
	for i := 0; i+length <= len(words); i++ {
		all = append(all, strings.Join(words[i:i+length], " "))
	}
	return all
}

// Each side's unions name each method that the rules give it, and no other.
func TestOfficialREV04MethodsAreThoseOfTheUnions(t *testing.T) {
	for _, name := range Names() {
		r := load(t, name, WithDocument(embeddedCore(t, name)))
		for _, u := range []struct {
			union string
			side  Side
			kind  Kind
		}{
			{"ClientRequest", FromClient, Request},
			{"ClientNotification", FromClient, Notification},
			{"ServerRequest", FromServer, Request},
			{"ServerNotification", FromServer, Notification},
			{"InputRequest", FromServer, Input},
		} {
			var theirs, ours []string
			if place, ok := r.Definition(u.union); ok {
				method, _ := place.step("method")
				theirs = values(method)
			}
			for _, m := range r.Methods {
				if m.From.Includes(u.side) && m.Kind == u.kind && r.Documents[0].Definition(m.Message) != nil {
					ours = append(ours, m.Name)
				}
			}
			slices.Sort(theirs)
			slices.Sort(ours)
			if !slices.Equal(ours, theirs) {
				t.Errorf("%s %s:\nrules    %v\nofficial %v", name, u.union, ours, theirs)
			}
		}
	}
}

func embeddedCore(t *testing.T, name string) (string, []byte) {
	_, data := official(t, officialFile(name, "core.json"))
	return officialFile(name, "core.json"), data
}

// Rules hold against the documents as published, and give the same Revision.
func TestOfficialREV04PublishedDocumentReplacesOurs(t *testing.T) {
	for _, name := range Names() {
		published := load(t, name, WithDocument(embeddedCore(t, name)))
		if got, want := dump(t, published), dump(t, load(t, name)); got != want {
			t.Errorf("%s: the published document gives another revision:\n%s\n%s", name, got, want)
		}
		for _, d := range published.Documents[:1] {
			if d.Root.Pos.File != officialFile(name, "core.json") {
				t.Errorf("%s was not replaced: %s", d.Name, d.Root.Pos)
			}
		}
	}
}

func TestOfficialREV04EveryPublishedDocumentLoads(t *testing.T) {
	for _, name := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "tasks-extension"} {
		doc, _ := official(t, officialFile(name, "core.json"))
		if n := len(doc.Definitions()); n < 70 {
			t.Errorf("%s: only %d definitions", name, n)
		}
		// The extension repeats $schema in its definitions, which an author may not.
		if ds := doc.Lint(); len(ds) > 0 && name != "tasks-extension" {
			t.Errorf("%s:\n%v", name, ds)
		}
		doc.Root.Walk(func(n *schema.Node) bool {
			if ref := n.Get("$ref"); ref.Is(schema.String) {
				if _, d := doc.Resolve(ref.Text, ref); d != nil {
					t.Error(d)
				}
			}
			return true
		})
	}
}

func TestOfficialVAL04ExamplesParseAndAreValid(t *testing.T) {
	base := filepath.Join(*shared, "schema", "2026-07-28")
	files, err := filepath.Glob(filepath.Join(base, "examples", "*", "*.json"))
	if err != nil || len(files) != 129 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	_, data := official(t, filepath.Join(base, "schema.json"))
	embedded := load(t, "2026-07-28")
	compiler := jsonschema.NewCompiler()
	for name, doc := range map[string][]byte{"mem://official/schema.json": data, "mem://embedded/schema.json": embedded.Documents[0].Root.JSON()} {
		if err := compiler.AddResource(name, bytes.NewReader(doc)); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range files {
		example, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		root, ds := schema.Parse(file, example)
		if len(ds) > 0 {
			t.Error(ds)
			continue
		}
		for _, host := range []string{"official", "embedded"} {
			s, err := compiler.Compile("mem://" + host + "/schema.json#/$defs/" + filepath.Base(filepath.Dir(file)))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(root.Value()); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}
