package check_test

import (
	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// The sample of sample_test.go goes on: keywords without a Go type. Each is a function that looks at the value and does
// not take it, called before the value's own decoder.

// Parcel is checked by not, if, dependentRequired, dependentSchemas, propertyNames, patternProperties, prefixItems,
// contains, unevaluatedProperties and unevaluatedItems.
type Parcel struct {
	Weight               check.Optional[float64]
	Size                 []check.Raw
	AdditionalProperties map[string]check.Raw
}

var (
	parcel              = check.Object{At: "#", Names: []string{"weight", "size"}}
	parcelNot           = check.Not{At: "#", Key: "lost", Lacks: true, Allowed: `no "lost"`}
	parcelIf            = check.Because{Then: `"express" is there`, Else: `"express" is missing`}
	parcelNotSchema     = check.Object{At: "#/not", Names: []string{"lost"}, Required: []string{"lost"}, AdditionalProperties: check.Skip}
	parcelIfSchema      = check.Object{At: "#/if", Names: []string{"express"}, Required: []string{"express"}, AdditionalProperties: check.Skip}
	parcelThen          = check.Object{At: "#/then", Names: []string{"weight"}, Required: []string{"weight"}, AdditionalProperties: check.Skip}
	parcelElse          = check.Object{At: "#/else", AdditionalProperties: check.Skip, Max: 6}
	parcelDependent     = check.Dependents{At: "#", Keyword: "dependentRequired", Needs: []check.Need{{Key: "size", Names: []string{"weight"}}}}
	parcelName          = check.String{At: "#/propertyNames", Max: 12}
	parcelKeys          = check.Keys{At: "#", Patterns: []*format.Pattern{{Source: "^x-"}, {Source: "^none"}, {Source: "s$"}}, AdditionalProperties: check.Refuse}
	parcelKey1          = check.String{At: "#/patternProperties/^x-", Min: 2}
	parcelKey2          = check.Union{At: "#/patternProperties/^no", Keyword: "false"}
	parcelUnevaluated   = check.Unevaluated{At: "#", Keyword: "unevaluatedProperties", Refuse: true}
	parcelMarks         = check.Evaluates{Names: []string{"weight", "size"}, Patterns: []*format.Pattern{{Source: "^x-"}}}
	parcelMarksExpress  = check.Evaluates{Names: []string{"express", "notes"}}
	parcelSize          = check.Array{Max: 5}
	parcelSizeContains  = check.Contains{At: "#/properties/size", Min: 1, Max: 2}
	parcelSizeItem      = check.Enum{At: "#/properties/size/contains", Values: []string{"cm", "in"}, Const: false}
	parcelSizeItem1     = check.Number{At: "#/properties/size/prefixItems/0", Has: check.Minimum}
	parcelSizeRest      = check.Unevaluated{At: "#/properties/size", Keyword: "unevaluatedItems", Items: true}
	parcelSizeRestItems = check.Number{At: "#/properties/size/unevaluatedItems", Integer: true}
)

func decodeParcel(d *check.Decoder, v *Parcel) {
	d.Also(checkParcelNot)
	d.Also(checkParcelIf)
	d.Also(checkParcelDependents)
	d.Also(checkParcelUnevaluated)
	for f := d.Object(&parcel); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.Weight = check.Some(d.Float(nil))
		case 1:
			d.Also(checkParcelSizeContains)
			d.Also(checkParcelSizeRest)
			v.Size = check.List(d, &parcelSize, decodeParcelSizeItem)
		default:
			d.Name(checkParcelName)
			d.Also(checkParcelKey)
			d.Keep(&v.AdditionalProperties)
		}
	}
}

func checkParcelNot(d *check.Decoder) {
	d.Not(&parcelNot, checkParcelNotSchema)
}

func checkParcelNotSchema(d *check.Decoder) {
	for f := d.Object(&parcelNotSchema); f >= 0; f = d.Next() {
		d.Skip()
	}
}

func checkParcelIf(d *check.Decoder) {
	d.If(&parcelIf, checkParcelIfSchema, checkParcelThen, checkParcelElse)
}

func checkParcelIfSchema(d *check.Decoder) {
	for f := d.Object(&parcelIfSchema); f >= 0; f = d.Next() {
		d.Skip()
	}
}

func checkParcelThen(d *check.Decoder) {
	for f := d.Object(&parcelThen); f >= 0; f = d.Next() {
		d.Skip()
	}
}

func checkParcelElse(d *check.Decoder) { d.Object(&parcelElse) }

func checkParcelDependents(d *check.Decoder) { d.Needs(&parcelDependent) }

func checkParcelName(d *check.Decoder) { d.String(&parcelName) }

func checkParcelKey(d *check.Decoder) {
	for k := d.Match(&parcelKeys); k.Next(); {
		switch k.Index {
		case 0:
			d.String(&parcelKey1)
		case 1:
			d.Kind(&parcelKey2)
		}
	}
}

func checkParcelUnevaluated(d *check.Decoder) {
	e := d.Evaluate(&parcelUnevaluated)
	markParcel(d, &e)
	e.Next()
}

func markParcel(d *check.Decoder, e *check.Evaluated) {
	e.Properties(&parcelMarks)
	if d.HasKey("express") {
		e.Properties(&parcelMarksExpress)
	}
}

func checkParcelSizeContains(d *check.Decoder) {
	d.Contains(&parcelSizeContains, checkParcelUnit)
}

func checkParcelUnit(d *check.Decoder) { d.Enum(&parcelSizeItem) }

func checkParcelSizeRest(d *check.Decoder) {
	e := d.Evaluate(&parcelSizeRest)
	e.First(1)
	e.Found(checkParcelUnit)
	for e.Next() {
		d.Literal(&parcelSizeRestItems)
	}
}

func decodeParcelSizeItem(d *check.Decoder, v *check.Raw) {
	d.Also(checkParcelSizeItem)
	*v = d.Raw(nil)
}

func checkParcelSizeItem(d *check.Decoder) {
	switch d.Index() {
	case 0:
		d.Literal(&parcelSizeItem1)
	default:
		d.Skip()
	}
}
