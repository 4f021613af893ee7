package typing

import (
	"encoding/json"
	"fmt"
	"go/token"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/schema"
)

// object is a JSON object that a test makes and edits.
type object = map[string]any

// edits makes random schemas, and changes them.
type edits struct{ r *rand.Rand }

// keys are names of properties, without two that spell the same: doc.go says where the line is.
var keys = []string{"id", "rows", "line_items", "user", "owner", "tags", "filter", "children", "meta", "status", "address",
	"order", "order_items", "entries", "data", "from", "to", "createdAt", "shape", "extra", "x-y", "日本"}

func (e edits) key() string { return keys[e.r.IntN(len(keys))] }

func (e edits) object(depth int) object {
	properties := object{}
	for range 1 + e.r.IntN(4) {
		properties[e.key()] = e.schema(depth - 1)
	}
	return object{"type": "object", "properties": properties}
}

func (e edits) schema(depth int) object {
	if depth <= 0 {
		return object{"type": []string{"string", "integer", "boolean"}[e.r.IntN(3)]}
	}
	switch e.r.IntN(8) {
	case 0:
		return object{"enum": []any{"open", "done", e.key()}}
	case 1:
		return object{"$ref": "#/$defs/" + []string{"Node", "Leaf"}[e.r.IntN(2)]}
	case 2, 3:
		return object{"type": "array", "items": e.schema(depth)}
	case 4:
		return object{"type": "object", "additionalProperties": e.schema(depth)}
	case 5:
		return object{"oneOf": []any{object{"type": "string"}, e.object(depth), object{"type": "array", "items": e.schema(depth - 1)}}}
	default:
		return e.object(depth)
	}
}

func (e edits) document() object {
	o := e.object(4)
	o["$defs"] = object{"Node": e.object(2), "Leaf": e.object(1)}
	return o
}

// add gives a random object of the schema a property that it does not have.
func (e edits) add(o object) {
	for {
		properties, ok := o["properties"].(object)
		if !ok {
			return
		}
		var inner []object
		for _, key := range slices.Sorted(mapKeys(properties)) {
			if p := properties[key].(object); p["type"] == "object" && p["properties"] != nil {
				inner = append(inner, p)
			}
		}
		if len(inner) == 0 || e.r.IntN(2) == 0 {
			if key := e.key(); properties[key] == nil {
				properties[key] = e.schema(2)
			}
			return
		}
		o = inner[e.r.IntN(len(inner))]
	}
}

func mapKeys(m object) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

// lowered returns what each Go type of the tools has in it, by the type's name.
func lowered(t testing.TB, tools []string, documents map[string]object) map[string][]string {
	t.Helper()
	types := NewTypes()
	for _, tool := range tools {
		text, err := json.Marshal(documents[tool])
		if err != nil {
			t.Fatal(err)
		}
		n, diags := schema.ParseJSON(tool, text)
		doc, more := schema.NewDocument(n, nil)
		if diags.HasErrors() || more.HasErrors() {
			t.Fatal(diags, more)
		}
		types.Lower(Root{Document: doc, Name: naming.GoName(tool) + "Input", DefsPrefix: naming.GoName(tool), Use: model.Decode | model.Encode})
	}
	decls, diags := types.Finish()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	all := map[string][]string{}
	for _, d := range decls {
		if d.Name != "" {
			all[d.Name] = partsOf(d)
		}
	}
	return all
}

// partsOf lists what a type has directly: its properties, its values, its members.
func partsOf(d *model.Decl) []string {
	all := []string{fmt.Sprintf("%T", d.Body)}
	switch b := d.Body.(type) {
	case *model.Struct:
		for _, p := range b.Props {
			all = append(all, p.Key)
		}
	case *model.Union:
		for _, m := range b.Members {
			all = append(all, m.Decl.Name)
		}
	}
	for _, c := range d.Constants() {
		all = append(all, c.Name)
	}
	return all
}

// TestVAL11WhatIsAddedRenamesNothing: after a property, a definition or a tool was added anywhere, every name is that of the type that it
// was, which has all that it had.
func TestVAL11WhatIsAddedRenamesNothing(t *testing.T) {
	for seed := range uint64(300) {
		e := edits{rand.New(rand.NewPCG(seed, 8))}
		tools := []string{"query", "get_order", "order"}
		documents := map[string]object{}
		for _, tool := range append(tools, "a_first_one") {
			documents[tool] = e.document()
		}
		before := lowered(t, tools, documents)
		switch tool := tools[e.r.IntN(3)]; seed % 3 {
		case 0:
			e.add(documents[tool])
		case 1:
			documents[tool]["$defs"].(object)["Another"] = e.object(2)
			documents[tool]["properties"].(object)["another"] = object{"$ref": "#/$defs/Another"}
		default:
			tools = slices.Insert(tools, e.r.IntN(4), "a_first_one")
		}
		after := lowered(t, tools, documents)
		for name, had := range before {
			for _, part := range had {
				if !slices.Contains(after[name], part) {
					t.Fatalf("seed %d: %s had %v and now has %v", seed, name, had, after[name])
				}
			}
		}
	}
}

// TestVAL11WhoIsLateIsToldApart: two places that spell the same have two names, and the first keeps its own.
func TestVAL11WhoIsLateIsToldApart(t *testing.T) {
	inner := func(key string) object {
		return object{"type": "object", "properties": object{key: object{"type": "string"}}}
	}
	nest := func(key string, o object) object {
		return object{"type": "object", "properties": object{key: o}}
	}
	documents := map[string]object{"get": nest("input_id", inner("a")), "get_input": {"type": "object", "$defs": object{"inputId": inner("b")},
		"properties": object{"id": object{"$ref": "#/$defs/inputId"}}}}
	one := lowered(t, []string{"get"}, documents)
	both := lowered(t, []string{"get", "get_input"}, documents)
	if !slices.Equal(one["GetInputInputID"], both["GetInputInputID"]) && !slices.Contains(both["GetInputInputID"], "b") || len(both) != 4 {
		t.Errorf("alone %v, together %v", one, both)
	}
}

// TestVAL11ASplitBranchIsDescribedOnce: a branch of several kinds becomes several types, and the first has its description.
func TestVAL11ASplitBranchIsDescribedOnce(t *testing.T) {
	n, _ := schema.ParseJSON("t", []byte(`{"type": "object", "properties": {"size": {"anyOf": [
		{"type": ["string", "integer"], "description": "A length, or a name.", "deprecated": true}, {"type": "array", "items": {"type": "string"}}]}}}`))
	doc, diags := schema.NewDocument(n, nil)
	types := NewTypes()
	types.Lower(Root{Document: doc, Name: "T", Use: model.Decode})
	decls, more := types.Finish()
	if diags.HasErrors() || more.HasErrors() {
		t.Fatal(diags, more)
	}
	got := map[string]string{}
	for _, d := range decls {
		if d.Name == "TSizeString" || d.Name == "TSizeInteger" {
			got[d.Name] = strings.Join(d.Doc, "|")
		}
	}
	const deprecated = "Deprecated: the schema says so."
	if want := map[string]string{"TSizeString": "A length, or a name.||" + deprecated, "TSizeInteger": deprecated}; !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzVAL11TypeNames: whatever properties, definitions, values and titles are called, Go names are valid and unique.
func FuzzVAL11TypeNames(f *testing.F) {
	f.Add("rows", "row", "Row", "")
	f.Add("MarshalJSON", "extra", "_", "a b")
	f.Add("<=", ">=", "日本", "\u202e")
	f.Add("line_items", "lineItem", "type", "func")
	f.Fuzz(func(t *testing.T, a, b, c, title string) {
		if a == b || b == c || a == c {
			return
		}
		leaf := func(key string) object {
			return object{"type": "object", "title": title, "properties": object{key: object{"enum": []any{a, b, c}}}, "required": []any{key}}
		}
		document := object{"type": "object", "$defs": object{a: leaf(b), b: leaf(c)}, "properties": object{
			a: object{"type": "array", "items": leaf(a)}, b: object{"anyOf": []any{leaf(a), leaf(b), object{"type": "string"}}}, c: leaf(c)}}
		text, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		n, diags := schema.ParseJSON("schema.json", text)
		if diags.HasErrors() {
			return // names that are one after their bytes are made valid
		}
		doc, _ := schema.NewDocument(n, nil)
		types := NewTypes()
		types.Lower(Root{Document: doc, Name: "GetInput", DefsPrefix: "Get", Use: model.Decode | model.Encode})
		decls, diags := types.Finish()
		if diags.HasErrors() {
			return
		}
		taken := map[string]bool{}
		take := func(name string, exported bool) {
			if !token.IsIdentifier(name) || token.IsExported(name) != exported || taken[name] {
				t.Errorf("%s: the name %q is no identifier, or is there twice", text, name)
			}
			taken[name] = true
		}
		for _, d := range decls {
			if d.Name != "" && (d.Same == nil || d.Renamed()) {
				take(d.Name, true)
				for _, c := range d.Constants() {
					take(c.Name, true)
				}
			}
			if d.Same == nil {
				take(d.Decode, false)
			}
			fieldsAreUnique(t, d)
		}
	})
}

func fieldsAreUnique(t *testing.T, d *model.Decl) {
	s, ok := d.Body.(*model.Struct)
	if !ok {
		return
	}
	taken := map[string]bool{"MarshalJSON": true, "UnmarshalJSON": true, "": false}
	for _, p := range s.Props {
		if p.Name == "" {
			continue
		}
		if taken[p.Name] || !token.IsExported(p.Name) || !token.IsIdentifier(p.Name) {
			t.Errorf("%s has the field %q twice, or it is a method", d.Name, p.Name)
		}
		taken[p.Name] = true
	}
	if s.Field != "" && taken[s.Field] {
		t.Errorf("%s has the field %q twice", d.Name, s.Field)
	}
}
