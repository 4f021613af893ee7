package check_test

// This file is the sample of generated code: what a generator emits for each construct, written as it emits it. The
// tests, fuzz targets and benchmarks of the package drive it.

import (
	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// (a) A flat object: required, optional, default, nullable, enum, bounds, pattern. additionalProperties: false.

// OrderInput is the input of place_order.
type OrderInput struct {
	Symbol   string                  // required
	Side     Side                    // required
	Quantity int64                   // required
	Limit    check.Optional[float64] // optional
	Venue    string                  // optional with a default: "XNYS"
	Note     check.Optional[string]  // required and nullable
	Memo     check.Nullable[string]  // optional and nullable
}

// (c) An enum.

// Side is buy or sell.
type Side string

const (
	SideBuy  Side = "buy"
	SideSell Side = "sell"
)

var (
	orderInput         = check.Object{Names: []string{"symbol", "side", "quantity", "limit", "venue", "note", "memo"}, Required: []string{"symbol", "side", "quantity", "note"}, Nullable: []string{"note"}, AdditionalProperties: check.Refuse}
	orderInputSymbol   = check.String{Min: 1, Max: 8, Pattern: &format.Pattern{Source: "^[A-Z.]+$"}}
	orderInputQuantity = check.Int{Has: check.Minimum | check.Maximum, Min: 1, Max: 1000000}
	orderInputLimit    = check.Number{Has: check.ExclusiveMinimum, Min: 0, MultipleOf: "0.01"}
	side               = check.Enum{Values: []string{"buy", "sell"}}
)

func decodeOrderInput(d *check.Decoder, v *OrderInput) {
	v.Venue = "XNYS"
	for f := d.Object(&orderInput); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.Symbol = d.String(&orderInputSymbol)
		case 1:
			v.Side = Side(d.Enum(&side))
		case 2:
			v.Quantity = d.Int(&orderInputQuantity)
		case 3:
			v.Limit = check.Some(d.Float(&orderInputLimit))
		case 4:
			v.Venue = d.String(nil)
		case 5:
			v.Note = check.Some(d.String(nil)) // null never arrives here: it is in Nullable
		case 6:
			if v.Memo.Null = d.Null(); !v.Memo.Null {
				v.Memo.Optional = check.Some(d.String(nil))
			}
		}
	}
}

// (f) Its encoder.
func appendOrderInput(b []byte, v *OrderInput) []byte {
	b = append(b, '{')
	b = check.AppendString(check.Member(b, `"symbol":`), v.Symbol)
	b = check.AppendString(check.Member(b, `"side":`), v.Side)
	b = check.AppendInt(check.Member(b, `"quantity":`), v.Quantity)
	b = check.AppendOptional(b, `"limit":`, v.Limit, check.AppendFloat)
	b = check.AppendString(check.Member(b, `"venue":`), v.Venue)
	b = check.AppendOrNull(b, `"note":`, v.Note, check.AppendString)
	b = check.AppendNullable(b, `"memo":`, v.Memo, check.AppendString)
	return append(b, '}')
}

// (b) Nested object, array of objects, map; unknown properties kept.

// Basket holds lines. Nested required objects are values, optional ones pointers.
type Basket struct {
	Buyer                Buyer
	Lines                []Line               // required: nil is written as []
	Tags                 []string             // optional: nil is left out
	Prices               map[string]float64   // optional
	Stock                map[string]Line      // optional
	Parent               *Buyer               // optional
	AdditionalProperties map[string]check.Raw // additionalProperties not refused
}

type Buyer struct{ ID string }

type Line struct {
	SKU   string
	Count int64
}

var (
	basket      = check.Object{Names: []string{"buyer", "lines", "tags", "prices", "stock", "parent"}, Required: []string{"buyer", "lines"}}
	basketLines = check.Array{Min: 1, Max: 100}
	basketTags  = check.Array{Unique: true}
	// A type that several places refer to ($ref) names its own place.
	buyer     = check.Object{At: "#/$defs/Buyer", Names: []string{"id"}, Required: []string{"id"}, AdditionalProperties: check.Refuse}
	line      = check.Object{Names: []string{"sku", "count"}, Required: []string{"sku", "count"}, AdditionalProperties: check.Skip}
	lineCount = check.Int{Has: check.Minimum, Min: 1}
)

func decodeBasket(d *check.Decoder, v *Basket) {
	for f := d.Object(&basket); f >= 0; f = d.Next() {
		switch f {
		case 0:
			decodeBuyer(d, &v.Buyer)
		case 1:
			v.Lines = check.List(d, &basketLines, decodeLine)
		case 2:
			v.Tags = d.Strings(&basketTags, nil)
		case 3:
			v.Prices = check.Map(d, nil, decodeBasketPrice)
		case 4:
			v.Stock = check.Map(d, nil, decodeLine)
		case 5:
			v.Parent = check.New(d, decodeBuyer)
		default:
			d.Keep(&v.AdditionalProperties)
		}
	}
}

// Elements of maps and nested lists that are not structs have a function of one line.
func decodeBasketPrice(d *check.Decoder, v *float64) { *v = d.Float(nil) }

func decodeBuyer(d *check.Decoder, v *Buyer) {
	for f := d.Object(&buyer); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.ID = d.String(nil)
		}
	}
}

func decodeLine(d *check.Decoder, v *Line) {
	for f := d.Object(&line); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.SKU = d.String(nil)
		case 1:
			v.Count = d.Int(&lineCount)
		}
	}
}

func appendBasket(b []byte, v *Basket) []byte {
	b = append(b, '{')
	b = appendBuyer(check.Member(b, `"buyer":`), &v.Buyer)
	b = check.AppendList(check.Member(b, `"lines":`), v.Lines, appendLine)
	if v.Tags != nil {
		b = check.AppendSlice(check.Member(b, `"tags":`), v.Tags, check.AppendString)
	}
	if v.Prices != nil {
		b = check.AppendMap(check.Member(b, `"prices":`), v.Prices, appendBasketPrice)
	}
	if v.Stock != nil {
		b = check.AppendMap(check.Member(b, `"stock":`), v.Stock, appendLine)
	}
	b = check.AppendPointer(b, `"parent":`, v.Parent, appendBuyer)
	b = check.AppendAdditionalProperties(b, v.AdditionalProperties)
	return append(b, '}')
}

func appendBasketPrice(b []byte, v *float64) []byte { return check.AppendFloat(b, *v) }

func appendBuyer(b []byte, v *Buyer) []byte {
	b = append(b, '{')
	b = check.AppendString(check.Member(b, `"id":`), v.ID)
	return append(b, '}')
}

func appendLine(b []byte, v *Line) []byte {
	b = append(b, '{')
	b = check.AppendString(check.Member(b, `"sku":`), v.SKU)
	b = check.AppendInt(check.Member(b, `"count":`), v.Count)
	return append(b, '}')
}

// (d) Unions. A sealed interface whose branches are pointers to structs or named scalars; decode functions assign *v.

// Shape is a *Circle or a *Square: by the const property kind.
type Shape interface{ appendShape(b []byte) []byte }

type Circle struct{ Radius float64 }
type Square struct{ Side float64 }

func (v *Circle) appendShape(b []byte) []byte { return appendCircle(b, v) }
func (v *Square) appendShape(b []byte) []byte { return appendSquare(b, v) }

var (
	shape      = check.Union{Keyword: "oneOf", One: true, Key: "kind", Forms: []check.Form{{Kinds: check.KindObject, Tags: []string{"circle"}}, {Kinds: check.KindObject, Tags: []string{"square"}}}}
	circle     = check.Object{At: "#/oneOf/0", Names: []string{"kind", "radius"}, Required: []string{"kind", "radius"}, AdditionalProperties: check.Refuse}
	circleKind = check.Enum{Values: []string{"circle"}, Const: true}
	square     = check.Object{At: "#/oneOf/1", Names: []string{"kind", "side"}, Required: []string{"kind", "side"}, AdditionalProperties: check.Refuse}
	squareKind = check.Enum{Values: []string{"square"}, Const: true}
)

func decodeShape(d *check.Decoder, v *Shape) {
	*v = check.Pick(d, &shape, func(d *check.Decoder, form int) Shape {
		switch form {
		case 0:
			return check.New(d, decodeCircle)
		default:
			return check.New(d, decodeSquare)
		}
	})
}

func decodeCircle(d *check.Decoder, v *Circle) {
	for f := d.Object(&circle); f >= 0; f = d.Next() {
		switch f {
		case 0:
			d.Enum(&circleKind) // a const has no field
		case 1:
			v.Radius = d.Float(nil)
		}
	}
}

func decodeSquare(d *check.Decoder, v *Square) {
	for f := d.Object(&square); f >= 0; f = d.Next() {
		switch f {
		case 0:
			d.Enum(&squareKind)
		case 1:
			v.Side = d.Float(nil)
		}
	}
}

func appendShape(b []byte, v *Shape) []byte {
	if *v == nil {
		return append(b, "null"...)
	}
	return (*v).appendShape(b)
}

func appendCircle(b []byte, v *Circle) []byte {
	b = append(b, `{"kind":"circle"`...)
	b = check.AppendFloat(check.Member(b, `"radius":`), v.Radius)
	return append(b, '}')
}

func appendSquare(b []byte, v *Square) []byte {
	b = append(b, `{"kind":"square"`...)
	b = check.AppendFloat(check.Member(b, `"side":`), v.Side)
	return append(b, '}')
}

// Owner is an OwnerName or an OwnerID: by JSON kind ("type": ["string", "integer"], or anyOf of such).
type Owner interface{ appendOwner(b []byte) []byte }

type OwnerName string
type OwnerID int64

func (v OwnerName) appendOwner(b []byte) []byte { return check.AppendString(b, v) }
func (v OwnerID) appendOwner(b []byte) []byte   { return check.AppendInt(b, int64(v)) }

var owner = check.Union{Keyword: "type", Forms: []check.Form{{Kinds: check.KindString}, {Kinds: check.KindNumber}}}

func decodeOwner(d *check.Decoder, v *Owner) {
	*v = check.Pick(d, &owner, func(d *check.Decoder, form int) Owner {
		switch form {
		case 0:
			return OwnerName(d.String(nil))
		default:
			return OwnerID(d.Int(nil))
		}
	})
}

// Source is a *Link or an *Inline: by the required property only one of them has.
type Source interface{ appendSource(b []byte) []byte }

type Link struct{ URL string }
type Inline struct{ Data string }

func (v *Link) appendSource(b []byte) []byte {
	b = append(b, '{')
	b = check.AppendString(check.Member(b, `"url":`), v.URL)
	return append(b, '}')
}

func (v *Inline) appendSource(b []byte) []byte {
	b = append(b, '{')
	b = check.AppendString(check.Member(b, `"data":`), v.Data)
	return append(b, '}')
}

var (
	source  = check.Union{Keyword: "anyOf", Members: check.Object{Names: []string{"url", "data"}}, Forms: []check.Form{{Kinds: check.KindObject, Needs: 0b1}, {Kinds: check.KindObject, Needs: 0b10}}}
	link    = check.Object{At: "#/anyOf/0", Names: []string{"url"}, Required: []string{"url"}, AdditionalProperties: check.Skip}
	linkURL = check.String{Format: format.URI}
	inline  = check.Object{At: "#/anyOf/1", Names: []string{"data"}, Required: []string{"data"}, AdditionalProperties: check.Skip}
)

func decodeSource(d *check.Decoder, v *Source) {
	*v = check.Pick(d, &source, func(d *check.Decoder, form int) Source {
		switch form {
		case 0:
			return check.New(d, decodeLink)
		default:
			return check.New(d, decodeInline)
		}
	})
}

func decodeLink(d *check.Decoder, v *Link) {
	for f := d.Object(&link); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.URL = d.String(&linkURL)
		}
	}
}

func decodeInline(d *check.Decoder, v *Inline) {
	for f := d.Object(&inline); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.Data = d.String(nil)
		}
	}
}

// Target is tried: where only reading tells the forms apart, each is read. The first that fits is taken; oneOf
// goes on and counts.

// Target is a *Line or a *Buyer.
type Target interface{ appendTarget(b []byte) []byte }

func (v *Line) appendTarget(b []byte) []byte  { return appendLine(b, v) }
func (v *Buyer) appendTarget(b []byte) []byte { return appendBuyer(b, v) }

var target = check.Union{Keyword: "oneOf", One: true, Forms: []check.Form{{Kinds: check.KindObject}, {Kinds: check.KindObject}}}

func decodeTarget(d *check.Decoder, v *Target) {
	*v = check.Pick(d, &target, func(d *check.Decoder, form int) Target {
		switch form {
		case 0:
			return check.New(d, decodeLine)
		default:
			return check.New(d, decodeBuyer)
		}
	})
}

// (e) A recursive $ref: nested values are pointers or slices.

// Tree has trees.
type Tree struct {
	Name     string
	Children []Tree
	Next     *Tree
}

var tree = check.Object{At: "#", Names: []string{"name", "children", "next"}, Required: []string{"name"}, AdditionalProperties: check.Refuse}

func decodeTree(d *check.Decoder, v *Tree) {
	for f := d.Object(&tree); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.Name = d.String(nil)
		case 1:
			v.Children = check.List(d, nil, decodeTree)
		case 2:
			v.Next = check.New(d, decodeTree)
		}
	}
}

func appendTree(b []byte, v *Tree) []byte {
	b = append(b, '{')
	b = check.AppendString(check.Member(b, `"name":`), v.Name)
	if v.Children != nil {
		b = check.AppendList(check.Member(b, `"children":`), v.Children, appendTree)
	}
	b = check.AppendPointer(b, `"next":`, v.Next, appendTree)
	return append(b, '}')
}

// (g) allOf of objects: one struct; lowering merges the tables (names, required, the narrower Unknown). A property that
// two branches constrain differently is read once per branch, with Also.

// Contact is allOf two objects.
type Contact struct {
	Name  string
	Email string
}

var (
	contact      = check.Object{Names: []string{"name", "email"}, Required: []string{"name", "email"}, AdditionalProperties: check.Skip}
	contactName  = check.String{At: "#/allOf/0/properties/name", Min: 1}
	contactName2 = check.String{At: "#/allOf/1/properties/name", Max: 3}
	contactEmail = check.String{At: "#/allOf/1/properties/email", Format: format.Email}
)

func decodeContact(d *check.Decoder, v *Contact) {
	for f := d.Object(&contact); f >= 0; f = d.Next() {
		switch f {
		case 0:
			d.Also(checkContactName)
			v.Name = d.String(&contactName2)
		case 1:
			v.Email = d.String(&contactEmail)
		}
	}
}

func checkContactName(d *check.Decoder) { d.String(&contactName) }

// A tuple of maps of lists shows that everything nests: each unnamed level has a function of its own.
type grid [][]int64

func decodeGrid(d *check.Decoder, v *grid)       { *v = check.List(d, nil, decodeGridRow) }
func decodeGridRow(d *check.Decoder, v *[]int64) { *v = d.Ints(nil, nil) }
func appendGrid(b []byte, v *grid) []byte        { return check.AppendList(b, *v, appendGridRow) }
func appendGridRow(b []byte, v *[]int64) []byte  { return check.AppendSlice(b, *v, check.AppendInt) }
