package emit_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// randomSchema returns a schema of the keywords that lowering takes.
func randomSchema(rng *rand.Rand) string {
	g := &schemaMaker{rng: rng}
	root := g.object(2)
	root["$defs"] = map[string]any{
		"A": []map[string]any{g.array(2), g.tagged(2), g.scalar()}[g.pick(3)], "B": g.object(2), "C": map[string]any{"type": "object", "properties": map[string]any{"next": ref("C"), "a": ref("A")}},
	}
	text, err := json.Marshal(root)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func ref(name string) any { return map[string]any{"$ref": "#/$defs/" + name} }

type schemaMaker struct{ rng *rand.Rand }

func (g *schemaMaker) pick(n int) int          { return g.rng.IntN(n) }
func (g *schemaMaker) chance(n int) bool       { return g.rng.IntN(n) == 0 }
func (g *schemaMaker) of(all ...string) string { return all[g.pick(len(all))] }

func (g *schemaMaker) schema(depth int) map[string]any {
	if depth <= 0 {
		return g.scalar()
	}
	switch g.pick(14) {
	case 0, 1, 2:
		return g.object(depth - 1)
	case 3, 4:
		return g.array(depth - 1)
	case 5:
		return map[string]any{g.of("anyOf", "oneOf"): g.list(depth - 1)}
	case 6:
		s := g.object(depth - 1)
		s[g.of("anyOf", "oneOf", "allOf")] = []any{g.part(), g.part()}
		return s
	case 7:
		return map[string]any{"allOf": []any{g.object(depth - 1), g.object(depth - 1)}}
	case 8:
		return map[string]any{"$ref": "#/$defs/" + g.of("A", "B", "C")}
	case 9:
		return g.untyped(depth - 1)
	case 10:
		s := g.scalar()
		if t, ok := s["type"].(string); ok {
			s["type"] = []any{t, "null"}
		}
		return s
	case 11:
		return g.tagged(depth - 1)
	default:
		return g.scalar()
	}
}

// part is an object schema without a type, as conditions beside properties are written.
func (g *schemaMaker) part() any {
	s := map[string]any{"required": []any{g.of("a", "b", "c")}}
	if g.chance(2) {
		s["properties"] = map[string]any{g.of("a", "b", "d"): g.scalar()}
	}
	return s
}

func (g *schemaMaker) list(depth int) []any {
	var all []any
	for range 2 + g.pick(2) {
		all = append(all, g.schema(depth))
	}
	return all
}

func (g *schemaMaker) tagged(depth int) map[string]any {
	var all []any
	for i := range 2 {
		s := g.object(depth)
		props := s["properties"].(map[string]any)
		props["kind"] = map[string]any{"const": "k" + strconv.Itoa(i)}
		s["required"] = []any{"kind"}
		all = append(all, s)
	}
	return map[string]any{g.of("anyOf", "oneOf"): all}
}

func (g *schemaMaker) untyped(depth int) map[string]any {
	s := map[string]any{}
	for _, from := range []map[string]any{g.scalar(), g.object(depth), g.array(depth)} {
		for k, v := range from {
			if k != "type" && k != "enum" && k != "const" && g.chance(2) {
				s[k] = v
			}
		}
	}
	return s
}

func (g *schemaMaker) object(depth int) map[string]any {
	props := map[string]any{}
	for _, key := range []string{"a", "b", "c", "list", "long_name"}[:1+g.pick(5)] {
		props[key] = g.schema(depth)
	}
	s := map[string]any{"type": "object", "properties": props}
	if g.chance(2) {
		s["required"] = []any{g.of("a", "b", "x")}
	}
	switch g.pick(5) {
	case 0:
		s["additionalProperties"] = false
	case 1:
		s["additionalProperties"] = true
	case 2:
		s["additionalProperties"] = g.schema(depth - 1)
	}
	if g.chance(6) {
		s["minProperties"] = g.pick(2)
	}
	if g.chance(6) {
		s["maxProperties"] = 1 + g.pick(4)
	}
	return s
}

func (g *schemaMaker) array(depth int) map[string]any {
	s := map[string]any{"type": "array", "items": g.schema(depth)}
	if g.chance(3) {
		s["minItems"] = g.pick(3)
	}
	if g.chance(3) {
		s["maxItems"] = g.pick(4)
	}
	if g.chance(4) {
		s["uniqueItems"] = true
	}
	return s
}

func (g *schemaMaker) scalar() map[string]any {
	switch g.pick(10) {
	case 0:
		return map[string]any{"type": "boolean"}
	case 1:
		return map[string]any{"enum": []any{"one", "two", "three"}}
	case 2:
		return map[string]any{"const": g.constant()}
	case 3:
		return map[string]any{"enum": []any{g.constant(), g.constant(), nil}}
	case 4, 5:
		return g.number()
	case 6:
		return map[string]any{"type": []any{"string", g.of("integer", "boolean", "null")}}
	case 7:
		return map[string]any{"type": "string", "format": g.of("date", "date-time", "email", "uuid", "uri", "ipv4")}
	default:
		return g.text()
	}
}

func (g *schemaMaker) constant() any {
	return []any{"x", 1, 2.5, true, nil, []any{1, "a"}, map[string]any{"a": 1}, "one"}[g.pick(8)]
}

func (g *schemaMaker) number() map[string]any {
	s := map[string]any{"type": g.of("integer", "number")}
	if g.chance(2) {
		s[g.of("minimum", "exclusiveMinimum")] = []any{0, -2, 1.5, 3}[g.pick(4)]
	}
	if g.chance(2) {
		s[g.of("maximum", "exclusiveMaximum")] = []any{10, 4.5, 7, 100}[g.pick(4)]
	}
	if g.chance(3) {
		s["multipleOf"] = []any{2, 0.5, 3, 0.1}[g.pick(4)]
	}
	return s
}

func (g *schemaMaker) text() map[string]any {
	s := map[string]any{"type": "string"}
	if g.chance(2) {
		s["minLength"] = g.pick(3)
	}
	if g.chance(2) {
		s["maxLength"] = 2 + g.pick(4)
	}
	if g.chance(3) {
		s["pattern"] = g.of("^a", "b+$", "^[a-z]*$", "[0-9]")
	}
	return s
}

// randomInstance returns an instance that follows the schema most of the way, on one line.
func randomInstance(rng *rand.Rand, text string) []byte {
	var root any
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		panic(err)
	}
	m := &instanceMaker{rng: rng, root: root}
	if rng.IntN(3) > 0 {
		m.slips = 1 + rng.IntN(12)
	}
	var b strings.Builder
	m.write(&b, root, 6)
	return []byte(b.String())
}

// instanceMaker writes JSON text by hand, so that 1.0 and odd spacing occur. slips is how rarely it does something wrong,
// 0 is never.
type instanceMaker struct {
	rng   *rand.Rand
	root  any
	slips int
}

func (m *instanceMaker) slip() bool { return m.slips > 0 && m.rng.IntN(m.slips*4) == 0 }

func (m *instanceMaker) write(b *strings.Builder, s any, depth int) {
	schema, ok := s.(map[string]any)
	if !ok || depth <= 0 || m.slip() {
		m.anything(b, depth)
		return
	}
	if r, ok := schema["$ref"].(string); ok {
		m.write(b, m.resolve(r), depth-1)
		return
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := schema[key].([]any); ok && (schema["properties"] == nil || key != "allOf" && m.rng.IntN(2) == 0) {
			m.write(b, merged(list[m.rng.IntN(len(list))], schema), depth-1)
			return
		}
	}
	if c, ok := schema["const"]; ok {
		m.json(b, c)
		return
	}
	if e, ok := schema["enum"].([]any); ok {
		m.json(b, e[m.rng.IntN(len(e))])
		return
	}
	m.typed(b, m.typeOf(schema), schema, depth)
}

// merged adds the owner's properties to a branch's, so that both are looked at.
func merged(branch any, owner map[string]any) any {
	b, ok := branch.(map[string]any)
	if !ok {
		return branch
	}
	out := map[string]any{}
	for k, v := range owner {
		if k != "anyOf" && k != "oneOf" && k != "allOf" {
			out[k] = v
		}
	}
	for k, v := range b {
		out[k] = v
	}
	if p, ok := owner["properties"].(map[string]any); ok {
		all := map[string]any{}
		for k, v := range p {
			all[k] = v
		}
		if q, ok := b["properties"].(map[string]any); ok {
			for k, v := range q {
				all[k] = v
			}
		}
		out["properties"] = all
	}
	return out
}

// resolve follows pointers from the root; what else a reference may be leads to anything.
func (m *instanceMaker) resolve(ref string) any {
	at := m.root
	if !strings.HasPrefix(ref, "#") {
		return true
	}
	for _, token := range strings.Split(strings.TrimPrefix(ref, "#"), "/")[1:] {
		next, ok := at.(map[string]any)
		if !ok {
			return true
		}
		at = next[token]
	}
	return at
}

func (m *instanceMaker) typeOf(s map[string]any) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		return t[m.rng.IntN(len(t))].(string)
	}
	for key, kind := range map[string]string{"properties": "object", "items": "array"} {
		if s[key] != nil && m.rng.IntN(2) == 0 {
			return kind
		}
	}
	return []string{"string", "number", "object", "array", "null", "boolean"}[m.rng.IntN(6)]
}

func (m *instanceMaker) typed(b *strings.Builder, kind string, s map[string]any, depth int) {
	switch kind {
	case "object":
		m.object(b, s, depth)
	case "array":
		b.WriteByte('[')
		for i := range m.rng.IntN(4) {
			if i > 0 {
				b.WriteByte(',')
			}
			m.write(b, s["items"], depth-1)
		}
		b.WriteByte(']')
	case "string":
		m.json(b, m.text(s))
	case "integer", "number":
		b.WriteString(m.number(kind))
	case "boolean":
		b.WriteString([]string{"true", "false"}[m.rng.IntN(2)])
	default:
		b.WriteString("null")
	}
}

func (m *instanceMaker) object(b *strings.Builder, s map[string]any, depth int) {
	props, _ := s["properties"].(map[string]any)
	required := fmt.Sprint(s["required"])
	names := []string{"a", "b", "c", "d", "kind", "list", "long_name", "x", "next", "unknown"}
	for name := range props {
		if !strings.Contains(strings.Join(names, " "), name) {
			names = append(names, name)
		}
	}
	m.rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	b.WriteByte('{')
	first := true
	for _, name := range names {
		p, known := props[name]
		if !known {
			p = s["additionalProperties"]
		}
		needed := strings.Contains(required, name) && !m.slip()
		if !needed && (known && m.rng.IntN(3) == 0 || !known && m.rng.IntN(8) > 0 || p == false && !m.slip()) {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		m.json(b, name)
		b.WriteString([]string{":", " : "}[m.rng.IntN(2)])
		m.write(b, p, depth-1)
	}
	b.WriteByte('}')
}

func (m *instanceMaker) number(kind string) string {
	whole := []string{"0", "1", "2", "3", "4", "6", "7", "10", "-1", "-2", "1.0", "2e0", "50", "-0", "1e1", "12"}
	part := []string{"0.5", "2.5", "1.5", "0.1", "0.3", "4.5", "-1.5", "1e-1", "99.99"}
	if kind == "integer" && !m.slip() || m.rng.IntN(2) == 0 {
		return whole[m.rng.IntN(len(whole))]
	}
	return part[m.rng.IntN(len(part))]
}

func (m *instanceMaker) text(s map[string]any) string {
	if f, ok := s["format"].(string); ok && !m.slip() {
		return map[string]string{"date": "2026-07-28", "date-time": "2026-07-28T10:11:12Z", "email": "a@b.example", "uri": "https://a.example/b?c#d",
			"uuid": "123e4567-e89b-12d3-a456-426614174000", "ipv4": "10.0.0.1"}[f]
	}
	return []string{"", "a", "b", "ab", "abb", "a1", "é", "日本", "one", "two", "x", "bat_1", "open", "A7", "\"q\"\\", "a\nb"}[m.rng.IntN(16)]
}

func (m *instanceMaker) anything(b *strings.Builder, depth int) {
	kinds := []string{"string", "number", "null", "boolean", "array", "object"}
	m.typed(b, kinds[m.rng.IntN(min(len(kinds), 4+max(depth, 0)))], map[string]any{}, depth-1)
}

func (m *instanceMaker) json(b *strings.Builder, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	b.Write(text)
}
