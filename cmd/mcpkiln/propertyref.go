package main

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// maxExplained limits how many schemas are read to explain one, and how much text: references can make it endless. Each schema counts once, and once
// more for each textExplained bytes.
const (
	maxExplained  = 1000
	textExplained = 4096
)

// explainer reads the schemas of one document, with what references within it lead to.
type explainer struct {
	root *schema.Node
	left int // of maxExplained
}

func newExplainer(document json.RawMessage) *explainer {
	root, _ := schema.ParseJSON("", document) // nil: no reference leads anywhere
	return &explainer{root, maxExplained}
}

// spend takes what it costs to read a schema from what is left.
func (e *explainer) spend(raw json.RawMessage) { e.left -= 1 + len(raw)/textExplained }

// object returns the properties of the document's root, and which are required.
func (e *explainer) object() (properties map[string]json.RawMessage, required []string) {
	var s struct {
		object
		Ref string `json:"$ref"`
	}
	passed := map[string]bool{}
	for at := e.root; at != nil && e.left > 0 && !passed[s.Ref]; at = e.target(s.Ref) {
		passed[s.Ref] = true
		s.Ref = ""
		raw := at.JSON()
		e.spend(raw)
		_ = json.Unmarshal(raw, &s) // anything but an object has no properties
	}
	return s.Properties, s.Required
}

// property reads a schema. passed are the references that led to it.
func (e *explainer) property(raw json.RawMessage, passed ...string) property {
	p, passed := e.referred(raw, passed)
	p.passed = passed
	if p.Items != nil && e.left > 0 {
		items := e.property(p.Items, passed...)
		p.items = &items
	}
	for _, one := range slices.Concat(p.AnyOf, p.OneOf) {
		if e.left > 0 {
			p.choices = append(p.choices, e.property(one, passed...))
		}
	}
	return p
}

// referred reads a schema over the one that its reference leads to. A reference out of the document, or in a circle, is the type itself.
func (e *explainer) referred(raw json.RawMessage, passed []string) (property, []string) {
	e.spend(raw)
	p := propertyOf(raw)
	target := e.target(p.Ref)
	switch {
	case p.Ref == "":
	case target == nil, e.left <= 0, slices.Contains(passed, p.Ref):
		if p.Type == nil {
			p.Type = p.Ref
		}
	default:
		base, passed := e.referred(target.JSON(), append(slices.Clone(passed), p.Ref))
		_ = json.Unmarshal(raw, &base) // it has been read once
		_ = json.Unmarshal(raw, &base.object)
		return base, passed
	}
	return p, passed
}

// target returns the schema that a reference leads to; nil if that is not in the document.
func (e *explainer) target(ref string) *schema.Node {
	fragment, local := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(fragment)
	if !local || err != nil || e.root == nil {
		return nil
	}
	return e.root.Lookup(pointer)
}
