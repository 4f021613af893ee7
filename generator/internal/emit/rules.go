package emit

import (
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// ruleTables writes the rule tables of d, whose names begin with d.Stem:
//
//	var (
//		order       = check.Object{Names: []string{"symbol"}, Required: []string{"symbol"}, AdditionalProperties: check.Skip}
//		orderSymbol = check.String{Min: 1, Max: 8}
//	)
func (s *source) ruleTables(d *model.Decl) {
	t := &tables{source: s}
	switch b := d.Body.(type) {
	case *model.Struct:
		t.object(b)
	case *model.Enum:
		t.add(d.Stem, "Enum", at(b.At), list("Values", enumTexts(b)), flag("Const", b.Const))
	case *model.Mixed:
		t.values(b.Rule)
	case *model.Union:
		t.union(d, b)
	case *model.Defined:
		t.value(&b.Value)
	case *model.Element:
		t.value(&b.Value)
	case *model.Check:
		t.value(&b.Value)
	case model.Condition:
		t.condition(d)
	}
	t.assertions(d.Checks)
	if d.Once != "" {
		t.add(d.Once, "Once")
	}
	switch len(t.all) {
	case 0:
	case 1:
		s.line()
		s.line("var ", t.all[0].name, " ", t.all[0].rest)
	default:
		s.line()
		s.open("var (")
		s.rows(t.all)
		s.close(")")
	}
}

// tables collects the rule tables of one declaration.
type tables struct {
	*source
	all []row
}

// add adds a table; fields that are empty are left out.
func (t *tables) add(name, typ string, fields ...string) {
	var given []string
	for _, f := range fields {
		if f != "" {
			given = append(given, f)
		}
	}
	t.all = append(t.all, row{name, "= " + t.runtime(typ) + "{" + strings.Join(given, ", ") + "}"})
}

func (t *tables) object(b *model.Struct) {
	if b.Array != nil {
		t.array(b.Array)
	} else {
		t.objectRule(b)
	}
	for _, p := range b.Props {
		t.value(&p.Value)
	}
	if b.AdditionalValue.Type != nil && b.Func == nil {
		t.value(&b.AdditionalValue)
	}
}

func (t *tables) objectRule(b *model.Struct) {
	names := make([]string, len(b.Props))
	var required, nullable []string
	for i, p := range b.Props {
		names[i] = p.Key
		if p.Presence.Required() {
			required = append(required, p.Key)
		}
		if nullInTable(p) {
			nullable = append(nullable, p.Key)
		}
	}
	additional := [...]string{model.Skip: "AdditionalProperties: check.Skip", model.Keep: "", model.Refuse: "AdditionalProperties: check.Refuse"}[b.AdditionalProperties]
	if b.Rule.Unevaluated {
		additional = "AdditionalProperties: check.RefuseUnevaluated"
	}
	t.add(b.Rule.Var, "Object", at(b.Rule.At), list("Names", names), list("Required", required), list("Nullable", nullable), additional,
		bound("Min", b.Rule.Min), bound("Max", b.Rule.Max))
}

func (t *tables) values(r *model.ValuesRule) {
	t.add(r.Var, "Values", at(r.At), list("JSON", r.JSON), flag("Const", r.Const))
}

// value adds the tables of a value and of the values in it, except for those with functions of their own.
func (t *tables) value(v *model.Value) {
	if v.Values != nil {
		t.values(v.Values)
	}
	switch r := v.Type.(type) {
	case model.String:
		t.text(r.Rule)
	case model.Formatted:
		t.text(r.Rule)
	case model.Int:
		t.integer(r.Rule)
	case model.Number:
		t.number(r.Rule)
	case model.Decimal:
		t.number(r.Rule)
	case *model.Choice:
		t.add(r.Var, "Enum", at(r.At), list("Values", r.Values), flag("Const", r.Const))
	case *model.Never:
		t.add(r.Var, "Union", at(r.At), `Keyword: "false"`) // a union that allows no kind
	case *model.Slice:
		t.slice(r)
	case *model.Map:
		t.mapping(r)
	case *model.ByKind:
		t.kinds(r)
	case *model.ByIndex:
		for i := range r.Cases {
			t.value(&r.Cases[i])
		}
		t.value(&r.Items)
	case *model.Object:
		t.object(r.Struct)
	}
	t.assertions(v.Checks)
}

func (t *tables) text(r *model.StringRule) {
	if r == nil {
		return
	}
	pattern, format := "", ""
	if r.Pattern != "" {
		pattern = "Pattern: &" + t.format("Pattern") + "{Source: " + goString(r.Pattern) + "}"
	}
	if r.Format != "" {
		format = "Format: " + t.format(formatNames[r.Format])
	}
	t.add(r.Var, "String", at(r.At), bound("Min", r.Min), bound("Max", r.Max), pattern, format)
}

// formatNames are the runtime's constants for formats, by the names of JSON Schema.
var formatNames = map[string]string{
	"date-time": "DateTime", "date": "Date", "time": "Time", "duration": "Duration",
	"email": "Email", "idn-email": "IDNEmail", "hostname": "Hostname", "idn-hostname": "IDNHostname",
	"ipv4": "IPv4", "ipv6": "IPv6", "uri": "URI", "uri-reference": "URIReference",
	"iri": "IRI", "iri-reference": "IRIReference", "uri-template": "URITemplate", "uuid": "UUID",
	"json-pointer": "JSONPointer", "relative-json-pointer": "RelativeJSONPointer", "regex": "Regex", "byte": "Byte",
}

func (t *tables) integer(r *model.NumberRule) {
	if r == nil {
		return
	}
	t.add(r.Var, "Int", at(r.At), has(r), expr("Min", r.Min), expr("Max", r.Max), expr("MultipleOf", r.MultipleOf),
		exprs("Enum", "int64", r.Enum), flag("Const", r.Const))
}

func (t *tables) number(r *model.NumberRule) {
	if r == nil {
		return
	}
	multiple := ""
	if r.MultipleOf != "" {
		multiple = "MultipleOf: " + strconv.Quote(r.MultipleOf)
	}
	t.add(r.Var, "Number", at(r.At), has(r), float("Min", r.Min, r.RoundedMin), float("Max", r.Max, r.RoundedMax), multiple, flag("Integer", r.Integer), list("Enum", r.Enum),
		flag("Const", r.Const))
}

// float writes a bound, as text where float64 can not represent it exactly.
func float(name, text string, rounded bool) string {
	switch {
	case text == "":
		return ""
	case rounded:
		return name + "Text: " + strconv.Quote(text)
	}
	return name + ": " + text
}

// has says which bounds there are, because 0 is a bound, too.
func has(r *model.NumberRule) string {
	var all []string
	add := func(bound string, exclusive bool, name string) {
		if exclusive {
			name = "Exclusive" + name
		}
		if bound != "" {
			all = append(all, "check."+name)
		}
	}
	add(r.Min, r.ExclusiveMin, "Minimum")
	add(r.Max, r.ExclusiveMax, "Maximum")
	if all == nil {
		return ""
	}
	return "Has: " + strings.Join(all, " | ")
}

func (t *tables) slice(r *model.Slice) {
	if r.Rule != nil {
		t.array(r.Rule)
	}
	if r.Func == nil {
		t.value(&r.Elem)
	}
}

func (t *tables) array(r *model.ArrayRule) {
	t.add(r.Var, "Array", at(r.At), bound("Min", r.Min), bound("Max", r.Max), flag("Unique", r.Unique))
}

func (t *tables) mapping(r *model.Map) {
	if r.Rule != nil {
		t.add(r.Rule.Var, "Object", at(r.Rule.At), bound("Min", r.Rule.Min), bound("Max", r.Rule.Max))
	}
	if r.Func == nil {
		t.value(&r.Elem)
	}
}

func (t *tables) kinds(r *model.ByKind) {
	if r.Var != "" {
		t.add(r.Var, "Union", at(r.At), `Keyword: "type"`, "Kinds: "+kindRule(r.Allowed, r.Integer))
	}
	for i := range r.Cases {
		t.value(&r.Cases[i].Value)
	}
}

func (t *tables) assertions(all []model.Assertion) {
	for _, a := range all {
		switch a := a.(type) {
		case *model.Group:
			t.forms(a.Var, a.At, groupKeyword(a.One), a.One, a.Key, a.KindKey, a.Forms)
		case *model.SolePattern:
			t.add(a.Var, "Keys", at(a.At), t.patterns([]string{a.Pattern}), "AdditionalProperties: check.Refuse")
		}
	}
}

func groupKeyword(one bool) string {
	if one {
		return "oneOf"
	}
	return "anyOf"
}

func enumTexts(b *model.Enum) []string {
	texts := make([]string, len(b.Values))
	for i := range b.Values {
		texts[i] = b.Values[i].Text
	}
	return texts
}

// The functions below write one field of a table, or nothing for its zero value.

func at(location string) string { return text("At", location) }

func text(name, value string) string {
	if value == "" {
		return ""
	}
	return name + ": " + goString(value)
}

// expr writes a Go expression, such as a number, as it is; text quotes.
func expr(name, value string) string {
	if value == "" || value == "0" {
		return ""
	}
	return name + ": " + value
}

func flag(name string, value bool) string {
	if !value {
		return ""
	}
	return name + ": true"
}

// bound writes a length: nil is no bound, and a Max of 0 has a constant because the zero value means no bound.
func bound(name string, n *int) string {
	switch {
	case n == nil:
		return ""
	case *n == 0 && name == "Min":
		return "" // every length is at least 0
	case *n == 0:
		return name + ": check.Zero"
	}
	return name + ": " + strconv.Itoa(*n)
}

func list(name string, values []string) string {
	if len(values) == 0 {
		return ""
	}
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = goString(v)
	}
	return name + ": []string{" + strings.Join(all, ", ") + "}"
}

// exprs writes a list of Go expressions as they are; list quotes.
func exprs(name, typ string, values []string) string {
	if len(values) == 0 {
		return ""
	}
	return name + ": []" + typ + "{" + strings.Join(values, ", ") + "}"
}
