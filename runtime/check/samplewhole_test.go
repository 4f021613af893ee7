package check_test

import "github.com/mcpkiln/mcpkiln/runtime/check"

// The sample of sample_test.go goes on: keywords without a Go type. Each is a function that looks at the value and does
// not take it, called before the value's own decoder.

// Parcel is checked by not, if, dependentRequired, dependentSchemas, propertyNames, patternProperties, prefixItems,
// contains, unevaluatedProperties and unevaluatedItems.
type Parcel struct {
	Weight check.Optional[float64]
	Size   []check.Raw
	Extra  map[string]check.Raw
}

var (
	parcel              = check.Object{At: "#", Names: []string{"weight", "size"}}
	parcelNot           = check.Union{At: "#", Keyword: "not"}
	parcelNotSchema     = check.Object{At: "#/not", Names: []string{"lost"}, Required: check.Bits{0b1}, Unknown: check.Skip}
	parcelIfSchema      = check.Object{At: "#/if", Names: []string{"express"}, Required: check.Bits{0b1}, Unknown: check.Skip}
	parcelThen          = check.Object{At: "#/then", Names: []string{"weight"}, Required: check.Bits{0b1}, Unknown: check.Skip}
	parcelElse          = check.Object{At: "#/else", Unknown: check.Skip, Max: 6}
	parcelDependent     = check.Dependents{At: "#", Keyword: "dependentRequired", Needs: []check.Need{{Key: "size", Names: []string{"weight"}}}}
	parcelName          = check.String{At: "#/propertyNames", Max: 12}
	parcelKeys          = check.Keys{At: "#", Patterns: []*check.Pattern{{Source: "^x-"}, {Source: "^none"}, {Source: "s$"}}, Unknown: check.Refuse}
	parcelKey1          = check.String{At: "#/patternProperties/^x-", Min: 2}
	parcelKey2          = check.Union{At: "#/patternProperties/^no", Keyword: "false"}
	parcelUnevaluated   = check.Unevaluated{At: "#", Keyword: "unevaluatedProperties", Refuse: true}
	parcelMarks         = check.Evaluates{Names: []string{"weight", "size"}, Patterns: []*check.Pattern{{Source: "^x-"}}}
	parcelMarksExpress  = check.Evaluates{Names: []string{"express", "notes"}}
	parcelSize          = check.Array{Max: 5}
	parcelSizeContains  = check.Contains{At: "#/properties/size", Min: 1, Max: 2}
	parcelSizeItem      = check.Enum{At: "#/properties/size/contains", Values: []string{"cm", "in"}, Const: false}
	parcelSizeItem1     = check.Number{At: "#/properties/size/prefixItems/0", Has: check.Minimum}
	parcelSizeRest      = check.Unevaluated{At: "#/properties/size", Keyword: "unevaluatedItems", Items: true}
	parcelSizeRestItems = check.Number{At: "#/properties/size/unevaluatedItems", Integer: true}
)

func decodeParcel(d *check.Decoder, v *Parcel) {
	m := d.Mark()
	checkParcelNot(d, nil)
	d.Rewind(m)
	checkParcelIf(d, nil)
	d.Rewind(m)
	checkParcelDependents(d, nil)
	d.Rewind(m)
	checkParcelUnevaluated(d, nil)
	d.Rewind(m)
	for f := d.Object(&parcel); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.Weight = check.Some(d.Float(nil))
		case 1:
			m := d.Mark()
			checkParcelSizeContains(d, nil)
			d.Rewind(m)
			checkParcelSizeRest(d, nil)
			d.Rewind(m)
			v.Size = check.List(d, &parcelSize, decodeParcelSizeItem)
		default:
			m := d.Mark()
			check.Name(d, checkParcelName)
			d.Rewind(m)
			checkParcelKey(d, nil)
			d.Rewind(m)
			d.Keep(&v.Extra)
		}
	}
}

func checkParcelNot(d *check.Decoder, _ *struct{}) {
	t := d.Not(&parcelNot)
	check.Try(&t, checkParcelNotSchema)
	t.End()
}

func checkParcelNotSchema(d *check.Decoder, _ *struct{}) {
	for f := d.Object(&parcelNotSchema); f >= 0; f = d.Next() {
		d.Skip()
	}
}

func checkParcelIf(d *check.Decoder, _ *struct{}) {
	if check.Fits(d, checkParcelIfSchema) {
		checkParcelThen(d, nil)
	} else {
		checkParcelElse(d, nil)
	}
}

func checkParcelIfSchema(d *check.Decoder, _ *struct{}) {
	for f := d.Object(&parcelIfSchema); f >= 0; f = d.Next() {
		d.Skip()
	}
}

func checkParcelThen(d *check.Decoder, _ *struct{}) {
	for f := d.Object(&parcelThen); f >= 0; f = d.Next() {
		d.Skip()
	}
}

func checkParcelElse(d *check.Decoder, _ *struct{}) { d.Object(&parcelElse) }

func checkParcelDependents(d *check.Decoder, _ *struct{}) { d.Needs(&parcelDependent) }

func checkParcelName(d *check.Decoder, _ *struct{}) { d.String(&parcelName) }

func checkParcelKey(d *check.Decoder, _ *struct{}) {
	for k := d.Match(&parcelKeys); k.Next(); {
		switch k.Index {
		case 0:
			d.String(&parcelKey1)
		case 1:
			d.Kind(&parcelKey2)
		}
	}
}

func checkParcelUnevaluated(d *check.Decoder, _ *struct{}) {
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

func checkParcelSizeContains(d *check.Decoder, _ *struct{}) {
	check.Count(d, &parcelSizeContains, checkParcelUnit)
}

func checkParcelUnit(d *check.Decoder, _ *struct{}) { d.Enum(&parcelSizeItem) }

func checkParcelSizeRest(d *check.Decoder, _ *struct{}) {
	e := d.Evaluate(&parcelSizeRest)
	e.First(1)
	check.Found(&e, checkParcelUnit)
	for e.Next() {
		d.Literal(&parcelSizeRestItems)
	}
}

func decodeParcelSizeItem(d *check.Decoder, v *check.Raw) {
	m := d.Mark()
	switch d.Index() {
	case 0:
		d.Literal(&parcelSizeItem1)
	default:
		d.Skip()
	}
	d.Rewind(m)
	*v = d.Raw(nil)
}
