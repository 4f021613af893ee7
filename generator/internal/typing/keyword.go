package typing

import (
	"github.com/mcpkiln/mcpkiln/schema"
)

// keyword says what lowering does with one keyword of the drafts. Each has read, or noRule, or both: nothing is ever
// dropped (VAL03).
type keyword struct {
	read   func(r *reader, s *shape, owner, value *schema.Node)
	noRule bool // it has no rule of its own: it does not constrain values, or package schema or the keyword that it belongs to handles it
	only   draft
}

// draft says where a keyword has an effect. One of a single draft has none in the other; those that are inBoth have it in both, also the few that only
// one of them defines ($defs, $anchor, contentSchema, deprecated).
type draft uint8

const (
	inBoth draft = iota
	in2020
	inDraft7
)

// appliesIn reports whether the keyword has an effect in a dialect.
func (k keyword) appliesIn(d schema.Dialect) bool {
	return k.only == inBoth || (k.only == inDraft7) == (d == schema.Draft7)
}

// keywordTable has every keyword of draft-07 and 2020-12. Its functions reach it again by allOf, which by this variable would be an initialization cycle:
// they use reader.keywords, which is the same table.
var keywordTable = map[string]keyword{
	"type":                 {read: (*reader).readType},
	"enum":                 {read: (*reader).readEnum},
	"const":                {read: (*reader).readConst},
	"properties":           {read: (*reader).readProperties},
	"required":             {read: (*reader).readRequired},
	"additionalProperties": {read: (*reader).readAdditionalProperties},
	"minProperties":        {read: (*reader).readMinProperties},
	"maxProperties":        {read: (*reader).readMaxProperties},
	"items":                {read: (*reader).readItems},
	"minItems":             {read: (*reader).readMinItems},
	"maxItems":             {read: (*reader).readMaxItems},
	"uniqueItems":          {read: (*reader).readUnique},
	"minimum":              {read: (*reader).readMinimum},
	"maximum":              {read: (*reader).readMaximum},
	"exclusiveMinimum":     {read: (*reader).readExclusiveMinimum},
	"exclusiveMaximum":     {read: (*reader).readExclusiveMaximum},
	"multipleOf":           {read: (*reader).readMultipleOf},
	"minLength":            {read: (*reader).readMinLength},
	"maxLength":            {read: (*reader).readMaxLength},
	"pattern":              {read: (*reader).readPattern},
	"format":               {read: (*reader).readFormat},
	"anyOf":                {read: (*reader).readAnyOf},
	"oneOf":                {read: (*reader).readOneOf},
	"allOf":                {read: (*reader).readAllOf},
	"$ref":                 {read: (*reader).readRef},
	"$dynamicRef":          {read: (*reader).readRef, only: in2020},
	"title":                {read: (*reader).readTitle},
	"description":          {read: (*reader).readDescription},
	"deprecated":           {read: (*reader).readDeprecated},
	"default":              {read: (*reader).readDefault},

	"$schema": {noRule: true}, "$id": {noRule: true}, "$anchor": {noRule: true}, "$comment": {noRule: true},
	"$defs": {noRule: true}, "definitions": {noRule: true}, "examples": {noRule: true}, "readOnly": {noRule: true},
	"writeOnly": {noRule: true}, "contentEncoding": {noRule: true}, "contentMediaType": {noRule: true},
	"contentSchema": {noRule: true}, "$vocabulary": {noRule: true, only: in2020},

	// These are keywords of draft 2019-09 alone. Package schema warns that they check nothing.
	"$recursiveRef": {noRule: true}, "$recursiveAnchor": {noRule: true},

	"goName": {noRule: true}, "goType": {noRule: true, read: (*reader).readGoType}, // chosen.go, gotype.go

	"not":                   {read: (*reader).readNot},
	"if":                    {read: (*reader).readCondition},
	"dependentRequired":     {read: (*reader).readDependencies, only: in2020},
	"dependentSchemas":      {read: (*reader).readCondition, only: in2020},
	"dependencies":          {read: (*reader).readDependencies, only: inDraft7},
	"propertyNames":         {read: (*reader).readCondition},
	"contains":              {read: (*reader).readCondition},
	"patternProperties":     {read: (*reader).readPatterns},
	"prefixItems":           {read: (*reader).readPrefix, only: in2020},
	"unevaluatedProperties": {read: (*reader).readUnevaluatedProperties, only: in2020},
	"unevaluatedItems":      {read: (*reader).readCondition, only: in2020},

	// These are read with the keyword that they belong to.
	"then": {noRule: true}, "else": {noRule: true}, "additionalItems": {noRule: true, only: inDraft7},
	"minContains": {noRule: true, only: in2020}, "maxContains": {noRule: true, only: in2020},
	"$dynamicAnchor": {noRule: true, only: in2020},
}

// read adds one keyword to s.
func (r *reader) read(s *shape, owner *schema.Node, m *schema.Member) {
	k, known := r.keywords[m.Key]
	switch {
	case !known:
		// unknown keyword: package schema has reported misspellings
	case k.only != inBoth && !k.appliesIn(r.dialect(owner)):
		r.report.Warn(m.Value, "foreign-keyword", r.dialectHint(owner, m.Key), "%s is no keyword of the draft of this schema and says nothing", m.Key)
	case k.read != nil:
		k.read(r, s, owner, m.Value)
	}
}

// Asserts reports whether a keyword of a dialect by itself constrains values.
func Asserts(word string, d schema.Dialect) bool {
	k, known := keywordTable[word]
	return known && !k.noRule && !Annotations[word] && k.appliesIn(d)
}

// Asserting returns the keywords for which Asserts is true in some dialect.
func Asserting() (all []string) {
	for word := range keywordTable {
		if Asserts(word, schema.Draft2020) || Asserts(word, schema.Draft7) {
			all = append(all, word)
		}
	}
	return all
}
