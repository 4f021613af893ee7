package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/keyword"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
)

// definition is a tool as tools/list shows it, as far as it is compared: its schemas without annotations.
type definition struct {
	Name                      string
	InputSchema, OutputSchema any
}

func readDefinition(text []byte) *definition {
	var raw struct {
		Name         string          `json:"name"`
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema"`
	}
	_ = exact.Unmarshal(text, &raw) // a definition that can not be read differs
	return &definition{raw.Name, schemaOf(raw.InputSchema), schemaOf(raw.OutputSchema)}
}

// schemaOf reads a schema, without annotations; nil for none.
func schemaOf(text []byte) (schema any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	_ = d.Decode(&schema) // it is valid, or absent
	return withoutAnnotations(schema, keyword.Keywords)
}

// derived is what is computed from a tool's definition on first use.
type derived struct {
	once   sync.Once
	hash   string // of the schemas without annotations
	hidden string // for check.Decoder.Hide
}

func (k *derived) of(text string) *derived {
	k.once.Do(func() { k.hash, k.hidden = SchemaHash([]byte(text)), check.Sensitive(text) })
	return k
}

// SchemaHash returns the hash of a tool's schemas, from its definition as a server lists it. Generated clients set it as Ref.Schema; other
// callers may.
func SchemaHash(definition []byte) string {
	d := readDefinition(definition)
	canonical, _ := json.Marshal([]any{d.InputSchema, d.OutputSchema}) // members are sorted
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// annotations are the keywords that allow and forbid nothing.
var annotations = []string{"$comment", "$schema", "deprecated", "description", "examples", "title"}

// withoutAnnotations returns a schema without annotations.
func withoutAnnotations(v any, k keyword.Keys) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			if k != keyword.Keywords || !slices.Contains(annotations, key) {
				out[key] = withoutAnnotations(value, k.Below(key))
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutAnnotations(v[i], k)
		}
		return out
	}
	return v
}

// firstDifference says at which JSON pointer two values differ first, and how; "" if they do not. at is the pointer to both values.
func firstDifference(at string, known, said any) string {
	if reflect.DeepEqual(known, said) {
		return ""
	}
	a, isObject := known.(map[string]any)
	b, areObjects := said.(map[string]any)
	if isObject && areObjects {
		return differentMember(at, a, b)
	}
	list, isList := known.([]any)
	other, areLists := said.([]any)
	if isList && areLists && len(list) == len(other) {
		for i := range list {
			if d := firstDifference(fmt.Sprintf("%s/%d", at, i), list[i], other[i]); d != "" {
				return d
			}
		}
	}
	if at == "" {
		at = "its root"
	}
	return at + ": " + shown(known) + " is known, the server has " + shown(said)
}

func differentMember(at string, known, said map[string]any) string {
	all := maps.Clone(known)
	maps.Copy(all, said)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if d := firstDifference(at+"/"+check.PointerStep(key), known[key], said[key]); d != "" {
			return d
		}
	}
	return ""
}

// shown returns a JSON value for a message.
func shown(v any) string {
	if v == nil {
		return "nothing"
	}
	text, _ := json.Marshal(v)
	return fmt.Sprintf("%.80s", text)
}
