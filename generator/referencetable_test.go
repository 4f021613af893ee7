package generator

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// tableRow is a row of a table of members, with its first and last cell.
var tableRow = regexp.MustCompile("(?m)^\\| (?:<a id=\"([^\"]+)\"></a>)?`([^`]+)` \\|.*\\| (.*?) ?\\|$")

// rowsOf are the rows of the table of what the only tool of a manifest takes.
func rowsOf(t *testing.T, manifest string) [][]string {
	t.Helper()
	page := string(referenceOf(t, "mcpkiln.yaml", []byte(manifest)).Markdown)
	_, table, found := strings.Cut(page, "It takes:\n\n")
	if !found {
		t.Fatalf("there is no table in\n%s", page)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	return tableRow.FindAllStringSubmatch(table, -1)
}

// TestDAY06ADefinitionIsToldOnce: definitions that refer to one another, each from several places, make no more rows than they have members.
func TestDAY06ADefinitionIsToldOnce(t *testing.T) {
	const definitions, properties = 20, 10
	var b strings.Builder
	b.WriteString("server: {name: a, version: 1.0.0}\nschemas:\n")
	for i := range definitions {
		fmt.Fprintf(&b, "  D%d: {type: object, properties: {", i)
		for j := range properties {
			fmt.Fprintf(&b, "p%d: {$ref: \"#/schemas/D%d\"}, ", j, (i+j)%definitions)
		}
		b.WriteString("}}\n")
	}
	b.WriteString("tools:\n  a: {description: Does it., inputSchema: {type: object, properties: {first: {$ref: \"#/schemas/D0\"}, list: {type: array, items: {$ref: \"#/schemas/D0\"}}, self: {$ref: \"#\"}}}}\n")
	rows := rowsOf(t, b.String())
	if len(rows) > definitions*properties+4 {
		t.Errorf("%d rows tell of %d definitions with %d properties each", len(rows), definitions, properties)
	}
	anchors, linked, about := map[string]bool{}, 0, map[string]string{}
	for _, r := range rows {
		anchors[r[1]] = true
		about[r[2]] = r[3]
	}
	link := regexp.MustCompile(`\(<#([^>]*)>\)`)
	for _, r := range rows {
		for _, m := range link.FindAllStringSubmatch(r[3], -1) {
			linked++
			if !anchors[m[1]] {
				t.Errorf("%s links to %s, which is no row", r[2], m[1])
			}
		}
	}
	if linked < definitions {
		t.Errorf("%d rows link to others", linked)
	}
	if about["list[]"] != "It holds what [`first`](<#in-first>) holds." || about["self"] != "It holds what the whole value holds." {
		t.Errorf("list[]: %q, self: %q", about["list[]"], about["self"])
	}
}

// TestDAY06TablesEnd: where a table is cut, it says so, whether it is too long or too deep.
func TestDAY06TablesEnd(t *testing.T) {
	var b strings.Builder
	b.WriteString("server: {name: a, version: 1.0.0}\ntools:\n  a: {description: Does it., inputSchema: {type: object, properties: {")
	for i := range 1000 {
		fmt.Fprintf(&b, "p%d: {type: string}, ", i)
	}
	b.WriteString("}}}\n")
	if rows := rowsOf(t, b.String()); len(rows) != 500 {
		t.Errorf("%d rows", len(rows))
	}
	page := string(referenceOf(t, "mcpkiln.yaml", []byte(b.String())).Markdown)
	if !strings.Contains(page, "| … |  |  | More rows are left out: the whole schema stands below. |") {
		t.Error("a table of 1000 rows ends without a word")
	}
	deep := "{type: string}"
	for range 9 {
		deep = "{type: object, properties: {p: " + deep + "}}"
	}
	rows := rowsOf(t, "server: {name: a, version: 1.0.0}\ntools: {a: {description: Does it., inputSchema: "+deep+"}}\n")
	if last := rows[len(rows)-1]; last[2] != "p.p.p.p.p.p" || last[3] != "What it holds stands in the whole schema below." {
		t.Errorf("the last row is %q", last)
	}
}

// TestDAY06TablesOfWhatHoldsItself: schemas that lead to themselves in every way make a table.
func TestDAY06TablesOfWhatHoldsItself(t *testing.T) {
	for _, schema := range []string{
		`{type: array, items: {$ref: "#/schemas/A"}}`,
		`{type: array, minItems: 1, items: {$ref: "#/schemas/A", description: Again.}}`,
		`{type: object, additionalProperties: {$ref: "#/schemas/A"}}`,
		`{type: object, patternProperties: {"^a": {$ref: "#/schemas/A"}}}`,
		`{anyOf: [{type: string}, {type: array, items: {$ref: "#/schemas/A"}}, {type: object, properties: {a: {$ref: "#/schemas/A"}}}]}`,
		`{type: object, allOf: [{properties: {a: {anyOf: [{$ref: "#/schemas/A"}, {type: "null"}]}}}], properties: {b: {oneOf: [{$ref: "#/schemas/A"}, {type: integer}]}}}`,
	} {
		rows := rowsOf(t, "server: {name: a, version: 1.0.0}\nschemas: {A: "+schema+"}\ntools: {a: {description: Does it., inputSchema: {type: object, properties: {x: {$ref: \"#/schemas/A\"}, y: {$ref: \"#/schemas/A\"}}}}}\n")
		if len(rows) < 2 || len(rows) > 20 {
			t.Errorf("%s has the rows %q", schema, rows)
		}
	}
}
