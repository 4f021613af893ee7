package server

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/keyword"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// targets finds the references in a schema of an added tool that may lead to what is sensitive, in every draft that a Validator may read. Where drafts
// differ, more is found rather than less: one reference too many is only refused, but one that is missed would show a secret.
type targets struct {
	idKey     string              // the keyword that names a schema
	oldDraft  bool                // one before 2019-09, in which other keywords beside a $ref mean nothing
	resources map[string]resource // by URI
	anchors   map[string]bool     // URI#NAME of those that are sensitive
	dynamic   map[string]bool     // the names in $dynamicAnchor of those that are sensitive, "" for $recursiveAnchor
	sensitive map[string]bool     // the JSON Pointers of the properties that say x-sensitive, and what they say
}

// resource is a schema resource of JSON Schema: the root, or a schema with a URI of its own.
type resource struct {
	at     string // its JSON Pointer
	schema map[string]any
}

func newTargets(root any) targets {
	schema, _ := root.(map[string]any)
	draft, _ := schema["$schema"].(string)
	t := targets{
		idKey: "$id", oldDraft: strings.Contains(draft, "/draft-0"), resources: map[string]resource{}, anchors: map[string]bool{},
		dynamic: map[string]bool{}, sensitive: map[string]bool{},
	}
	if strings.Contains(draft, "/draft-04") {
		t.idKey = "id"
	}
	return t
}

// id returns what names the schema; "" for nothing.
func (t *targets) id(schema map[string]any) string {
	id, _ := schema[t.idKey].(string)
	if t.oldDraft && schema["$ref"] != nil {
		return ""
	}
	return strings.TrimSuffix(id, "#")
}

// baseOf returns the URI of the resource that the schema is in; outer is that of the schema around it.
func (t *targets) baseOf(schema map[string]any, outer string) string {
	if id := t.id(schema); id != "" && id[0] != '#' { // else it is an anchor
		return keyword.ResolveURI(outer, id)
	}
	return outer
}

// note records which references lead to the schema, and whether it is sensitive. A schema is noted before those in it.
func (t *targets) note(at string, schema map[string]any, base string) {
	if _, known := t.resources[base]; !known {
		t.resources[base] = resource{at, schema}
	}
	if said, ok := schema[keyword.Sensitive].(bool); ok {
		t.sensitive[at] = said
	}
	if !t.isSensitive(at) {
		return
	}
	if id := t.id(schema); strings.HasPrefix(id, "#") {
		t.anchors[base+id] = true
	}
	for _, key := range [...]string{"$anchor", "$dynamicAnchor"} {
		if name, ok := schema[key].(string); ok {
			t.anchors[base+"#"+name] = true
		}
	}
	if name, ok := schema["$dynamicAnchor"].(string); ok {
		t.dynamic[name] = true
	}
	if schema["$recursiveAnchor"] == true {
		t.dynamic[""] = true
	}
}

// isSensitive reports whether the schema is a property that is sensitive, or in one.
func (t *targets) isSensitive(at string) bool {
	return slices.ContainsFunc(keyword.PlaceOf(at).Properties, func(property string) bool { return t.sensitive[property] })
}

// isDecided reports whether a property that the schema is, or is in, says whether it is sensitive.
func (t *targets) isDecided(at string) bool {
	return slices.ContainsFunc(keyword.PlaceOf(at).Properties, func(property string) bool {
		_, said := t.sensitive[property]
		return said
	})
}

// refersToSensitive returns the keyword of a reference that leads to a sensitive property, or into one, unless a property that contains the reference says
// whether it is sensitive; "" for none. Through such a reference the values would be shown, under the name of the referring property.
func (t *targets) refersToSensitive(at string, schema map[string]any, base string) string {
	if len(t.sensitive) == 0 || t.isDecided(at) {
		return ""
	}
	for _, key := range [...]string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if ref, is := schema[key].(string); is && t.leadsToSensitive(key, ref, base) {
			return key
		}
	}
	return ""
}

func (t *targets) leadsToSensitive(key, ref, base string) bool {
	uri, fragment, _ := strings.Cut(ref, "#")
	if uri != "" {
		base = keyword.ResolveURI(base, uri)
	}
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	switch r, known := t.resources[base]; {
	case key != "$ref" && t.dynamic[fragment]:
		return true
	case fragment != "" && fragment[0] != '/':
		return t.anchors[base+"#"+fragment]
	case known:
		target, found := r.lookup(fragment)
		return found && t.isSensitive(target)
	}
	return false // it leads nowhere, or out of the schema
}

// lookup returns the JSON Pointer of the schema that pointer leads to in the resource, spelt as all others here are.
func (r *resource) lookup(pointer string) (at string, found bool) {
	if pointer == "" {
		return r.at, true
	}
	at, value := r.at, any(r.schema)
	for step := range strings.SplitSeq(pointer[1:], "/") {
		step = wire.UnescapeStep(step)
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v) { // 01 is 1 for some validators
				value, step = v[i], strconv.Itoa(i)
			}
		}
		at += "/" + check.PointerStep(step)
	}
	_, found = value.(map[string]any)
	return at, found
}
