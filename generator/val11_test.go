package generator

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var manifests = flag.Int("manifests", 150, "how many random manifests are generated from and compiled")

// TestVAL11WhateverGeneratesCompiles generates from random manifests whose names and texts are trouble: what Go has names for,
// what becomes the same Go name, and what looks like code.
func TestVAL11WhateverGeneratesCompiles(t *testing.T) {
	c := newCompiler(t)
	refused := map[string]int{}
	for seed := range *manifests {
		text := (&author{rand.New(rand.NewPCG(11, uint64(seed)))}).manifest()
		if code := compile(t, c, text, seed%5); code != "" {
			refused[code]++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("refused: %v", refused)
	if n := sum(refused); n > *manifests/2 {
		t.Errorf("%d of %d manifests are refused: that shows too little", n, *manifests)
	}
}

func sum(all map[string]int) (n int) {
	for _, v := range all {
		n += v
	}
	return n
}

// compile generates from a manifest and compiles what comes. It returns the code of the first error if it is refused.
func compile(t testing.TB, c *compiler, manifest []byte, maxTools int) string {
	t.Helper()
	config := Config{Manifest: Source{"mcpkiln.json", manifest}, Import: "example.com/m", Out: "kiln", MaxTools: maxTools}
	r, err := Generate(t.Context(), config)
	if err != nil {
		t.Fatalf("%v\n%s", err, manifest)
	}
	for _, d := range r.Diagnostics {
		if d.Severity == 0 {
			return d.Code
		}
	}
	if err := c.check("example.com/m/kiln", r.Files); err != nil {
		t.Errorf("%v\n%s", err, manifest)
	}
	return ""
}

type object = map[string]any

// author writes random manifests.
type author struct{ *rand.Rand }

func (a *author) chance(n int) bool        { return a.IntN(n) == 0 }
func (a *author) one(all ...string) string { return all[a.IntN(len(all))] }

// Names that Go, the runtime or the generated package has, that differ in case or marks only, or that are no words at all.
var nastyNames = strings.Fields("t T t1 T4 m M d D u v V b k f h ok in call ctx check server time context task client string error any nil append " +
	"len make new func type go range init main _ __ New Handlers Tools tools Methods methods order Order TextResult Call CallToolResult Content " +
	"ContentBlock TextContent wire wire20251125 Wire20251125 decode Decode append_t appendT decodeT T_anyOf T_any_of a_b aB AB ab a.b a-b 1 2x " +
	"get_quote getQuote GetQuoteInput GetQuoteOutput extra Extra Item Value Option1 Kind Null Is isT Root S0 X x tToolCancel Input Output " +
	"form Form e found Once once trial confirm Ask Question part00 shared internal self this String Error json JSON id ID ids")

var nastyTexts = []string{"", "time. Wait for it", "uses check. and server.Call and time.Second", "*/ func init() { panic(1) } /*", "a\n//go:build ignore\nb",
	"`", "``x``", "\"", "\\", "\x00\u202e\ufeff", "ends in a backslash \\", "é日本😀", "//line x.go:1", "+build ignore", "[x]: y", "%s %d", "\r\n\u2028", "package main"}

func (a *author) name() string { return a.one(nastyNames...) }
func (a *author) text() string {
	return nastyTexts[a.IntN(len(nastyTexts))] + nastyTexts[a.IntN(len(nastyTexts))]
}

func (a *author) manifest() []byte {
	m := object{"version": 1, "server": object{"name": "s" + a.text(), "version": "v" + a.text(), "instructions": a.text(), "title": a.text()},
		"protocol": object{"revisions": [][]string{{"2025-11-25"}, {"2026-07-28"}, {"2026-07-28", "2025-11-25"}}[a.IntN(3)]}}
	shared := object{}
	for range a.IntN(4) {
		shared[a.name()] = a.schema(2, nil)
	}
	names := slices.Sorted(maps.Keys(shared))
	m["schemas"] = shared
	tools := object{}
	for range 1 + a.IntN(4) {
		tools[a.name()] = a.tool(names)
	}
	m["tools"] = tools
	if a.chance(3) {
		m["methods"] = []string{"prompts/list", "prompts/get", "completion/complete", "resources/list", "resources/read"}[:1+a.IntN(5)]
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return text
}

func (a *author) tool(shared []string) object {
	t := object{"description": a.text(), "inputSchema": a.object(3, shared)}
	if a.chance(2) {
		t["outputSchema"] = a.object(3, shared)
	}
	switch a.IntN(4) {
	case 0:
		t["cancellation"] = object{"mode": "none", "because": "it takes " + a.text()}
	case 1:
		t["execution"] = object{"taskSupport": a.one("optional", "required"), "ttl": a.one("1h", "90s", "1500ms")}
	case 2:
		t["timeout"] = a.one("1h", "3s", "1ns")
	}
	if a.chance(3) {
		t["elicitations"] = object{a.one("confirm", "t", "T4", "a_b", "Call", "meta", "progress", "log", "do"): object{
			"message": "m" + a.text(), "onUnsupported": a.one("fail", "decline", "default"),
			"schema": object{"type": "object", "properties": object{
				a.name(): object{"type": "boolean", "default": true, "description": a.text()},
				a.name(): object{"type": "string", "enum": []string{a.name(), "z"}, "default": "z"},
				a.name(): object{"type": "number", "default": 1},
			}}}}
	}
	return t
}

func (a *author) object(depth int, shared []string) object {
	s := object{"type": "object"}
	properties := object{}
	for range a.IntN(5) {
		properties[a.name()] = a.schema(depth-1, shared)
	}
	s["properties"] = properties
	if names := slices.Sorted(maps.Keys(properties)); len(names) > 0 && a.chance(2) {
		s["required"] = names[:1+a.IntN(len(names))]
	}
	switch a.IntN(4) {
	case 0:
		s["additionalProperties"] = false
	case 1:
		s["additionalProperties"] = a.schema(depth-1, shared)
	case 2:
		var groups []any
		for range 1 + a.IntN(6) {
			groups = append(groups, object{a.one("anyOf", "oneOf"): []any{object{"required": []string{a.name()}}, object{"required": []string{a.name()}}}})
		}
		s["allOf"] = groups
	}
	return s
}

func (a *author) schema(depth int, shared []string) object {
	var s object
	switch n := a.IntN(10); {
	case n == 0 && len(shared) > 0:
		return object{"$ref": "#/schemas/" + a.one(shared...)}
	case n < 3 && depth > 0:
		s = a.object(depth, shared)
	case n < 4 && depth > 0:
		s = object{"type": "array", "items": a.schema(depth-1, shared)}
	case n < 6 && depth > 0:
		s = object{a.one("anyOf", "oneOf"): []any{a.schema(depth-1, shared), a.schema(depth-1, shared), object{"type": "null"}}[:2+a.IntN(2)]}
	case n < 7:
		s = object{"enum": []any{a.name(), "z" + a.text(), a.name() + "."}}
		if a.chance(2) {
			s["enum"] = append(s["enum"].([]any), 1, nil, true, 1.5)[:3+a.IntN(4)]
		}
	default:
		s = object{"type": a.one("string", "integer", "number", "boolean")}
	}
	if kind, ok := s["type"].(string); ok && a.chance(3) {
		s["type"] = []string{kind, "null"}
	}
	if a.chance(3) {
		s["default"] = a.value(2)
	}
	if a.chance(2) {
		s["description"] = a.text()
	}
	return s
}

// value is a default, which its schema may refuse.
func (a *author) value(depth int) any {
	switch n := a.IntN(9); {
	case n < 2:
		return nil
	case n == 2 && depth > 0:
		return []any{a.value(depth - 1)}
	case n == 3 && depth > 0:
		return object{a.name(): a.value(depth - 1)}
	case n == 4:
		return object{}
	case n == 5:
		return json.Number(a.one("1", "1.5", "1e400", "-0", "1e-400", "9223372036854775808", fmt.Sprintf("0.%0300d1", 0)))
	case n == 6:
		return a.chance(2)
	default:
		return a.text()
	}
}
