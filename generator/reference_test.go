package generator

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// referenceOf is the reference of a manifest that has no errors.
func referenceOf(t *testing.T, path string, text []byte) *Reference {
	t.Helper()
	cfg := Config{Manifest: Source{path, text}}
	if text == nil {
		if ds := cfg.Read(path); ds.HasErrors() {
			t.Fatal(ds)
		}
	}
	r, ds, err := MakeReference(t.Context(), cfg)
	if err != nil || ds.HasErrors() {
		t.Fatal(err, ds)
	}
	return r
}

// TestReference holds both forms against goldens, which people have looked at in a browser.
func TestReference(t *testing.T) {
	const dir = "testdata/reference"
	r := referenceOf(t, filepath.Join(dir, "manifest.yaml"), nil)
	for _, f := range r.files() {
		path := filepath.Join(dir, f.Name)
		if *update {
			if err := os.WriteFile(path, f.Content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(path); err != nil || !bytes.Equal(want, f.Content) {
			t.Errorf("%s is not what is made of the manifest (%v): go test ./generator -run Reference -update, and look at it", path, err)
		}
	}
}

// jsonBlock is a block of JSON with the line above it.
var jsonBlock = regexp.MustCompile("(?s)([^\n]+)\n\n```json\n(.*?)\n```\n")

// TestReferenceShowsWhatTheSchemasAllow: of each tool of each manifest here, the call and the answer are valid by what tools/list shows.
func TestReferenceShowsWhatTheSchemasAllow(t *testing.T) {
	calls, answers := 0, 0
	for _, path := range []string{"testdata/reference/manifest.yaml", "../testdata/orders/mcpkiln.yaml", "../testdata/shop/mcpkiln.yaml", "../testdata/conformance/server/mcpkiln.yaml", "../testdata/byhand/mcpkiln.yaml"} {
		cfg := Config{Import: "example.com/m"}
		if ds := cfg.Read(path); ds.HasErrors() {
			t.Fatal(ds)
		}
		made, err := Generate(t.Context(), cfg)
		if err != nil || made.Diagnostics.HasErrors() {
			t.Fatal(err, made.Diagnostics)
		}
		definitions := map[string]map[string]json.RawMessage{}
		for i, text := range made.ToolList("") {
			var d map[string]json.RawMessage
			if err := json.Unmarshal([]byte(text), &d); err != nil {
				t.Fatal(err)
			}
			definitions[made.Tools[i].Name] = d
		}
		tool := ""
		for _, m := range jsonBlock.FindAllStringSubmatch(string(referenceOf(t, path, nil).Markdown), -1) {
			var shown struct {
				Name              string
				Arguments         any
				StructuredContent any
			}
			switch {
			case strings.HasPrefix(m[1], "For example, the params of tools/call"):
				decode(t, m[2], &shown)
				tool = shown.Name
				calls++
				validate(t, path+" "+tool, definitions[tool]["inputSchema"], shown.Arguments)
			case m[1] == "and an answer:":
				decode(t, m[2], &shown)
				answers++
				validate(t, path+" "+tool, definitions[tool]["outputSchema"], shown.StructuredContent)
			}
		}
	}
	if calls < 20 || answers < 5 {
		t.Errorf("%d calls and %d answers are shown", calls, answers)
	}
}

func decode(t *testing.T, text string, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), to); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

func validate(t *testing.T, what string, schema json.RawMessage, value any) {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	if err := c.AddResource("mem://schema", bytes.NewReader(schema)); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	s, err := c.Compile("mem://schema")
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := s.Validate(value); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// hostile are texts that would be markup, if anybody read them as such.
var hostile = []string{
	`</code></pre></td></details><script>alert(1)</script><img src=x onerror=alert(1)>`,
	`[a](javascript:alert(1)) ![b](https://example.com/b.png) <https://evil.example> [c]: x`,
	"a | b \\| c \\ `code` ``two`` *em* __strong__ ~~gone~~ $x$",
	"\n\n# heading\n\n- list\n1. one\n\n```\nfenced\n~~~\n<div onclick=\"x\">\n\n| a | b |\n|---|---|\n| c | d |\n",
	`"quoted' --> <!-- %%{init: {}}%% &lt; &#60;b> ` + "\u202eturned \x7f",
	"---\ntitle: x\n---\n===\n+ plus\n12) twelve\n    indented",
}

// hostileManifest has a text wherever one may stand.
func hostileManifest(text string) []byte {
	q, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return []byte(strings.ReplaceAll(`{
"server": {"name": "a", "version": "1.0.0", "title": TEXT, "description": TEXT, "instructions": TEXT, "websiteUrl": "https://example.com/a)(b?a=1&c=)(%5D"},
"tools": {"a": {"title": TEXT, "description": TEXT, "execution": {"taskSupport": "optional"}, "timeout": "1s",
  "elicitations": {"ask": {"message": TEXT, "schema": {"type": "object", "properties": {"x": {"type": "string", "title": TEXT, "description": TEXT, "default": TEXT}}}}},
  "inputSchema": {"type": "object", "description": TEXT, "required": [TEXT], "properties": {TEXT: {"type": "string", "title": TEXT, "description": TEXT, "default": TEXT},
    "e": {"enum": [TEXT]}, "c": {"const": TEXT}, "x": {"examples": [TEXT]}, "m": {"type": "object", "patternProperties": {"^[|<>&`+"`"+`]$": {"type": "string"}}}}},
  "outputSchema": {"type": "object", "properties": {TEXT: {"type": "string", "description": TEXT}}}}},
"prompts": {TEXT: {"title": TEXT, "description": TEXT, "arguments": {"x": {"description": TEXT, "enum": [TEXT]}}}},
"resources": {TEXT: {"uri": "docs://a", "title": TEXT, "description": TEXT, "mimeType": "text/plain"}}
}`, `TEXT`, string(q)))
}

// allowed are the elements of a reference, with their attributes.
var allowed = map[string]string{
	"html": "lang", "head": "", "meta": "charset http-equiv content name", "title": "", "style": "", "body": "", "main": "",
	"h1": "", "h2": "id", "h3": "id", "p": "", "ul": "", "li": "", "table": "", "thead": "", "tbody": "", "tr": "", "th": "", "td": "", "div": "class",
	"pre": "", "code": "class", "details": "", "summary": "", "a": "href rel id", "figure": "", "figcaption": "",
	"svg": "viewBox width height role aria-label", "rect": "x y width height rx", "line": "class x1 y1 x2 y2", "path": "class d", "circle": "class cx cy r", "text": "x y text-anchor class",
}

// checkMarkup reads a page as XML, which is stricter than HTML: each element is one that a reference has, and closed where it should be.
func checkMarkup(page []byte) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	d := xml.NewDecoder(bytes.NewReader(page))
	elements := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			say("%v in\n%s", err, page)
			return wrong
		}
		switch e := token.(type) {
		case xml.StartElement:
			elements++
			attributes, ok := allowed[e.Name.Local]
			if !ok {
				say("there is an element %s", e.Name.Local)
			}
			for _, a := range e.Attr {
				if !slices.Contains(strings.Fields(attributes), a.Name.Local) {
					say("%s has the attribute %s", e.Name.Local, a.Name.Local)
				}
				if a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#") && !strings.HasPrefix(a.Value, "https://example.com/") {
					say("there is a link to %s", a.Value)
				}
			}
		case xml.Comment:
			say("there is a comment: %s", e)
		case xml.ProcInst:
			say("there is a processing instruction")
		}
	}
	if elements < 50 {
		say("there are %d elements", elements)
	}
	return wrong
}

// shape is the elements of a page, in their order.
func shape(t *testing.T, page []byte) (all []string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	for {
		token, err := d.Token()
		if err != nil {
			return all
		}
		if e, ok := token.(xml.StartElement); ok {
			all = append(all, e.Name.Local)
		}
	}
}

// rendered is Markdown as GitHub renders it, HTML in it let through.
func rendered(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList), goldmark.WithRendererOptions(html.WithUnsafe(), html.WithXHTML()))
	if err := md.Convert(text, &b); err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(nil, "<main>%s</main>", strings.ReplaceAll(b.String(), `="text-align:`, `="`))
}

// TestReferenceIsMadeOfItsOwnMarkup: what a manifest says is text in both forms, wherever it stands. A harmless text in its place makes a page with
// the same elements.
func TestReferenceIsMadeOfItsOwnMarkup(t *testing.T) {
	golden := referenceOf(t, "testdata/reference/manifest.yaml", nil)
	for _, wrong := range slices.Concat(checkMarkup(golden.HTML), checkMarkup(rendered(t, golden.Markdown))) {
		t.Errorf("the golden: %s", wrong)
	}
	for _, text := range hostile {
		r := referenceOf(t, "mcpkiln.json", hostileManifest(text))
		for _, wrong := range slices.Concat(checkMarkup(r.HTML), checkMarkup(rendered(t, r.Markdown))) {
			t.Errorf("%q: %s", text, wrong)
		}
		if strings.Contains(string(r.HTML)+string(r.Markdown), "\u202e") {
			t.Errorf("%q: the direction of writing is turned", text)
		}
		if strings.Contains(text, "\n") {
			continue // more paragraphs
		}
		harmless := referenceOf(t, "mcpkiln.json", hostileManifest("harmless"))
		if a, b := shape(t, rendered(t, r.Markdown)), shape(t, rendered(t, harmless.Markdown)); !slices.Equal(a, b) {
			t.Errorf("%q: the Markdown has the elements\n%q, and harmless text makes\n%q", text, a, b)
		}
		if a, b := shape(t, r.HTML), shape(t, harmless.HTML); !slices.Equal(a, b) {
			t.Errorf("%q: the HTML has the elements\n%q, and harmless text makes\n%q", text, a, b)
		}
	}
}

// TestReferenceChecksCanFail keeps the test above honest.
func TestReferenceChecksCanFail(t *testing.T) {
	page := "<main>" + strings.Repeat("<p>a</p>", 60) + "%s</main>"
	if wrong := checkMarkup(fmt.Appendf(nil, page, "")); len(wrong) > 0 {
		t.Error(wrong)
	}
	for _, part := range []string{"<p>", "<script>x</script>", `<p onclick="x">a</p>`, `<a href="javascript:x">a</a>`, "<!-- a -->"} {
		if len(checkMarkup(fmt.Appendf(nil, page, part))) == 0 {
			t.Errorf("%s passes", part)
		}
	}
}
