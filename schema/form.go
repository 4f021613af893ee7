package schema

import "strings"

// article describes the values of each form in messages; forms without a row take a schema, or anything.
var article = map[form]string{
	formString: "a string", formBool: "true or false", formNumber: "a number", formPositive: "a number above zero",
	formCount: "an integer from zero", formArray: "a list", formStrings: "a list of strings",
	formStringLists: "an object of lists of strings", formFlags: "an object of booleans",
	formSchemas: "a list of at least one schema", formSchemaMap: "an object of schemas",
	formPatternMap: "an object of schemas", formDependencies: "an object of schemas or of lists of strings",
}

// unchecked are annotations: a value of the wrong type only causes a warning.
var unchecked = map[string]bool{"$comment": true, "title": true, "description": true, "deprecated": true, "examples": true, "readOnly": true, "writeOnly": true}

func (l *linter) value(keyword string, f form, v *Node) {
	switch {
	case !l.fits(f, v):
		l.wrongType(keyword, f, v)
	case f == formStrings:
		l.strings(keyword, v)
	case f == formStringLists || f == formDependencies || f == formFlags:
		l.members(keyword, f, v)
	case f == formPatternMap:
		for i := range v.Members {
			l.regexp(v.Members[i].KeyPos, v.Members[i].Value.Pointer, v.Members[i].Key)
		}
	}
}

func (l *linter) wrongType(keyword string, f form, v *Node) {
	hint := ""
	switch {
	case unchecked[keyword]:
		l.ds.report(Warning, v.Pos, v.Pointer, "keyword-type", "nothing is made of it", keyword+" takes "+article[f]+", not "+describe(v))
		return
	case v.Kind == Number && v.Rat() == nil:
		l.ds.Report(v, "keyword-type", "", "%s is %s, beyond what can be computed with", keyword, describe(v))
		return
	case v.Kind == String && !v.Plain && (isNumber(v.Text) || v.Text == "true" || v.Text == "false"):
		hint = "remove the quotes"
	case keyword == "required" && v.Kind == Bool:
		hint = "list the name in required of the object around it"
	case f == formSchemaMap:
		hint = "key schemas by name: {NAME: {type: string}}"
	case f == formStrings:
		hint = listHint(v)
	case (keyword == "exclusiveMinimum" || keyword == "exclusiveMaximum") && v.Kind == Bool:
		hint = "give the limit itself, in place of " + strings.ToLower(keyword[9:])
	}
	l.ds.Report(v, "keyword-type", hint, "%s takes %s, not %s", keyword, article[f], describe(v))
}

// listHint says how to write a single text as a list.
func listHint(v *Node) string {
	if v.Kind != String {
		return ""
	}
	hint := "write [" + quote(v.Text) + "]"
	if v.Plain && strings.HasPrefix(v.Text, "-") {
		hint += ", or a space after a dash that begins an item"
	}
	return hint
}

// fits checks the value itself, not what it contains.
func (l *linter) fits(f form, v *Node) bool {
	switch f {
	case formString:
		return v.Kind == String
	case formBool:
		return v.Kind == Bool
	case formNumber, formPositive, formCount:
		r := v.Rat()
		return r != nil && (f != formPositive || r.Sign() > 0) && (f != formCount || r.IsInt() && r.Sign() >= 0)
	case formArray, formStrings:
		return v.Kind == Array
	case formSchemas:
		return v.Kind == Array && len(v.Items) > 0
	case formSchemaMap, formPatternMap, formStringLists, formDependencies, formFlags:
		return v.Kind == Object
	}
	return true
}

func (l *linter) strings(keyword string, v *Node) {
	seen := make(map[string]bool, len(v.Items))
	for _, item := range v.Items {
		switch {
		case item.Kind != String:
			l.ds.Report(item, "keyword-type", "", "%s lists strings, not %s", keyword, describe(item))
		case seen[item.Text]:
			l.ds.Report(item, "keyword-type", "", "%s lists %s twice", keyword, quote(item.Text))
		}
		seen[item.Text] = true
	}
}

// members checks each member of the value of a keyword that takes an object of lists or booleans.
func (l *linter) members(keyword string, f form, v *Node) {
	for i := range v.Members {
		m := v.Members[i].Value
		switch {
		case m.Kind == Array && f != formFlags:
			l.strings(keyword, m)
		case f == formStringLists:
			l.ds.Report(m, "keyword-type", "", "%s takes lists of strings, not %s", keyword, describe(m))
		case f == formFlags && m.Kind != Bool:
			l.ds.Report(m, "keyword-type", "", "%s takes true or false, not %s", keyword, describe(m))
		}
	}
}
