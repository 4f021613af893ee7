package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
)

// form is the schema in an elicitation, as far as answers are checked against it here: one flat object, which is all that the protocol lets a
// client be asked for. Keywords that the struct lacks are not checked.
type form struct {
	Properties map[string]formField `json:"properties"`
	Required   []string             `json:"required"`
}

type formField struct {
	Type      string          `json:"type"`
	Const     json.RawMessage `json:"const"`
	Enum      []string        `json:"enum"`
	OneOf     []formChoice    `json:"oneOf"`
	Pattern   string          `json:"pattern"`
	Default   json.RawMessage `json:"default"`
	MinLength *float64        `json:"minLength"`
	MaxLength *float64        `json:"maxLength"`
	Format    string          `json:"format"`
	Minimum   json.Number     `json:"minimum"`
	Maximum   json.Number     `json:"maximum"`
	MinItems  *float64        `json:"minItems"`
	MaxItems  *float64        `json:"maxItems"`
	Items     struct {
		Type  string       `json:"type"`
		Enum  []string     `json:"enum"`
		AnyOf []formChoice `json:"anyOf"`
		OneOf []formChoice `json:"oneOf"`
	} `json:"items"`

	// By these it is known whether the field asks for a secret.
	Title       string `json:"title"`
	Description string `json:"description"`
	Sensitive   any    `json:"x-sensitive"`
}

type formChoice struct {
	Const string `json:"const"`
}

// These say which schemas are forms (form, formField), with formField.undefined. Other members are skipped: clients know what they mean, or ignore them.
var (
	formShape = shapeOf(check.Skip, []string{"type", "properties"}, shapeMember{"type", readWord("object")}, shapeMember{"$schema", readText},
		shapeMember{"properties", func(d *check.Decoder) { d.EachMember(&anyObject, fieldShape.read) }}, shapeMember{"required", readTexts})
	fieldShape = shapeOf(check.Skip, []string{"type"}, shapeMember{"type", readWord("string", "number", "integer", "boolean", "array")}, shapeMember{"enum", readTexts},
		shapeMember{"oneOf", readChoices}, shapeMember{"pattern", readText}, shapeMember{"minLength", readLength}, shapeMember{"maxLength", readLength},
		shapeMember{"format", readText}, shapeMember{"minimum", readNumber}, shapeMember{"maximum", readNumber}, shapeMember{"minItems", readLength},
		shapeMember{"maxItems", readLength}, shapeMember{"title", readText}, shapeMember{"description", readText},
		shapeMember{"items", shapeOf(check.Skip, nil, shapeMember{"type", readWord("string")}, shapeMember{"enum", readTexts}, shapeMember{"anyOf", readTitled},
			shapeMember{"oneOf", readChoices}).read})
	readTexts   = readEach(&check.Array{At: "#"}, readText)
	readChoices = readEach(&check.Array{At: "#"}, shapeOf(check.Skip, []string{"const"}, shapeMember{"const", readText}).read)
	readTitled  = readEach(&check.Array{At: "#"}, shapeOf(check.Skip, []string{"const", "title"}, shapeMember{"const", readText}, shapeMember{"title", readText}).read)
)

// readForm reads a form, or says where it is none that an answer could be checked against.
func readForm(schema []byte) (*form, error) {
	d := check.Get(schema, check.Limits{Bytes: len(schema)})
	defer d.Put()
	formShape.read(d)
	err := d.Finish()
	f := new(form)
	if err == nil {
		err = exact.Unmarshal(schema, f)
	}
	return f, err
}

// checkForm validates what the user filled in against the form in params (LET12). An answer that was not accepted, and one without a form, are always
// valid.
func checkForm(params, answer []byte, limits check.Limits) error {
	var asked struct {
		RequestedSchema json.RawMessage `json:"requestedSchema"`
	}
	var given struct {
		Action  Action          `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	if exact.Unmarshal(params, &asked) != nil || asked.RequestedSchema == nil || exact.Unmarshal(answer, &given) != nil || given.Action != Accepted {
		return nil
	}
	f, err := readForm(asked.RequestedSchema)
	if err != nil {
		return fmt.Errorf("the form can not be read: %w", err)
	}
	return check.Decode(orEmpty(given.Content), limits, func(d *check.Decoder, f *form) { f.read(d) }, f)
}

// checkContent validates what the user filled in against the protocol's definition of it, which bounds also fields that the form does not have: what is
// in those reaches no handler of Ask, and would be lost without a word.
func checkContent(content []byte, limits check.Limits) error {
	return check.Decode(content, limits, func(d *check.Decoder, _ *struct{}) { d.EachMember(&anyObject, readFieldValue) }, new(struct{}))
}

var fieldValue = check.Union{At: "#", Keyword: "type", Kinds: check.KindString | check.KindNumber | check.KindBool | check.KindArray}

// readFieldValue takes the value of any field of an answer: a string, a number, a boolean or a list of strings.
func readFieldValue(d *check.Decoder) {
	switch d.Kind(&fieldValue) {
	case 0: // a violation
	case check.KindArray:
		readTexts(d)
	default:
		d.Skip()
	}
}

// read reads the user's answer with d, and validates it against the form.
func (f *form) read(d *check.Decoder) {
	var rule check.Object
	for name := range f.Properties {
		rule.Names = append(rule.Names, name)
	}
	slices.Sort(rule.Names)
	rule.Required = f.Required
	for i := d.Object(&rule); i >= 0; i = d.Next() {
		if i >= len(rule.Names) {
			readFieldValue(d)
			continue
		}
		field := f.Properties[rule.Names[i]]
		field.read(d)
	}
}

func (f *formField) read(d *check.Decoder) {
	choices := chosen(f.Enum, f.OneOf)
	switch {
	case f.Const != nil:
		d.Alias(&check.Values{JSON: []string{string(f.Const)}, Const: true})
	case len(choices) > 0 && f.Type == "string":
		d.Enum(&check.Enum{Values: choices})
	case f.Type == "string":
		d.String(&check.String{Min: bound(f.MinLength), Max: bound(f.MaxLength), Format: formFormats[f.Format], Pattern: f.pattern()})
	case f.Type == "number" || f.Type == "integer":
		d.Float(f.number())
	case f.Type == "boolean":
		d.Bool(nil)
	case f.Type == "array":
		items := check.Enum{Values: chosen(chosen(f.Items.Enum, f.Items.AnyOf), f.Items.OneOf)}
		for more := d.Array(&check.Array{Min: bound(f.MinItems), Max: bound(f.MaxItems)}); more; more = d.Item() {
			d.Enum(&items)
		}
	}
}

// pattern is nil if the field has none, or one that Go can not match.
func (f *formField) pattern() *format.Pattern {
	if source, err := pattern.RE2(f.Pattern); f.Pattern == "" || err != nil {
		return nil
	} else if _, err = regexp.Compile(source); err != nil {
		return nil
	}
	return &format.Pattern{Source: f.Pattern}
}

// patternBroken reports whether the pattern is none in ECMA-262 either. One that Go alone can not match is the client's to check.
func (f *formField) patternBroken() bool {
	_, err := pattern.Compile(f.Pattern)
	broken, ok := errors.AsType[*syntax.Error](err)
	return ok && slices.Contains(brokenPatterns, broken.Code)
}

var brokenPatterns = []syntax.ErrorCode{syntax.ErrMissingBracket, syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrTrailingBackslash,
	syntax.ErrMissingRepeatArgument, syntax.ErrInvalidRepeatOp, syntax.ErrInvalidCharRange}

func (f *formField) number() *check.Number {
	rule := &check.Number{Integer: f.Type == "integer", MinText: f.Minimum.String(), MaxText: f.Maximum.String()}
	if f.Minimum != "" {
		rule.Has |= check.Minimum
	}
	if f.Maximum != "" {
		rule.Has |= check.Maximum
	}
	return rule
}

// bound returns a limit on a length or a number of items for package check: 0 for none, check.Zero for 0.
func bound(n *float64) int {
	switch {
	case n == nil:
		return 0
	case *n == 0:
		return check.Zero
	case *n >= math.MaxInt:
		return math.MaxInt
	}
	return int(*n)
}

// chosen are the values of a list of choices, without or with titles.
func chosen(values []string, titled []formChoice) []string {
	for _, c := range titled {
		values = append(values, c.Const)
	}
	return values
}

// formFormats are the formats that clients ask for.
var formFormats = map[string]format.Format{"email": format.Email, "uri": format.URI, "date": format.Date, "date-time": format.DateTime}
