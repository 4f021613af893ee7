package typing

import (
	"github.com/mcpkiln/mcpkiln/schema"
)

// keyword says what lowering does with one keyword of the drafts. Each has a reader or a note: nothing is ever dropped
// (VAL03).
type keyword struct {
	read func(r *reader, s *shape, owner, value *schema.Node)
	note bool // an annotation, or something that package schema has dealt with
	only draft
}

// draft says in which drafts a keyword is one. In the others it says nothing.
type draft uint8

const (
	inBoth draft = iota
	in2020
	in7
)

// means reports whether a keyword says something in that dialect.
func (k keyword) means(d schema.Dialect) bool {
	return k.only == inBoth || (k.only == in7) == (d == schema.Draft7)
}

// newKeywords returns the table of every keyword of draft-07 and 2020-12. It is a function because readers reach it
// again through allOf.
func newKeywords() map[string]keyword {
	return map[string]keyword{
		"type":                 {read: (*reader).readType},
		"enum":                 {read: (*reader).readEnum},
		"const":                {read: (*reader).readConst},
		"properties":           {read: (*reader).readProperties},
		"required":             {read: (*reader).readRequired},
		"additionalProperties": {read: (*reader).readRest},
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

		"$schema": {note: true}, "$id": {note: true}, "$anchor": {note: true}, "$comment": {note: true},
		"$defs": {note: true}, "definitions": {note: true}, "examples": {note: true}, "readOnly": {note: true},
		"writeOnly": {note: true}, "contentEncoding": {note: true}, "contentMediaType": {note: true},
		"contentSchema": {note: true},

		"goName": {note: true}, "goType": {note: true, read: (*reader).readGoType}, // chosen.go, gotype.go

		"not":                   {read: (*reader).readNot},
		"if":                    {read: (*reader).readCondition},
		"dependentRequired":     {read: (*reader).readDependencies, only: in2020},
		"dependentSchemas":      {read: (*reader).readCondition, only: in2020},
		"dependencies":          {read: (*reader).readDependencies, only: in7},
		"propertyNames":         {read: (*reader).readCondition},
		"contains":              {read: (*reader).readCondition},
		"patternProperties":     {read: (*reader).readPatterns},
		"prefixItems":           {read: (*reader).readPrefix, only: in2020},
		"unevaluatedProperties": {read: (*reader).readUnevaluatedProperties, only: in2020},
		"unevaluatedItems":      {read: (*reader).readCondition, only: in2020},

		// What these say is read with the keyword that they belong to.
		"then": {note: true}, "else": {note: true}, "additionalItems": {note: true, only: in7},
		"minContains": {note: true, only: in2020}, "maxContains": {note: true, only: in2020},
		"$dynamicAnchor": {note: true, only: in2020}, "$vocabulary": {note: true, only: in2020},
	}
}

// read adds one keyword to s.
func (r *reader) read(s *shape, owner *schema.Node, m *schema.Member) {
	k, known := r.keywords[m.Key]
	switch {
	case !known:
		// an annotation: package schema has judged the spelling
	case !k.means(r.dialect(owner)):
		r.report.Warn(m.Value, "foreign-keyword", r.dialectHint(owner), "%s is no keyword of the draft of this schema and says nothing", m.Key)
	case k.read != nil:
		k.read(r, s, owner, m.Value)
	}
}
