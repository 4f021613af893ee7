package check

import (
	"cmp"
	"strconv"
	"strings"
)

// hiddenValue is Violation.Found where the value must not be shown.
const hiddenValue = "a value that is not shown"

// Hide keeps the values of all properties with these names, wherever they are, and all that is in them, out of violations. Each name is
// written as a step of a JSON Pointer: "/password/api~1key" are two names. Hide applies until Put or Reset. Of other values only numbers, booleans and
// null are shown: an object, an array or a string may contain a hidden value, so violations show only its kind.
func (d *Decoder) Hide(names string) { d.hidden = names }

// Hiding returns decode preceded by Hide, for callers that have no other place to call it.
func Hiding[T any](names string, decode func(d *Decoder, v *T)) func(d *Decoder, v *T) {
	return func(d *Decoder, v *T) {
		d.Hide(names)
		decode(d, v)
	}
}

// ofHidden is Violation.Because where the reason why a rule applies would reveal a hidden value.
const ofHidden = "of a value that is not shown"

// Hidden is Hide for violations that another validator found. As with Hide, no object, array or string is shown; what the schema
// allows is.
func (v Violations) Hidden(names string) Violations {
	if names == "" {
		return v
	}
	var d Decoder
	d.hidden = names
	for i := range v {
		d.hide(&v[i])
		v[i].Found = cmp.Or(mayHold(v[i].Found), v[i].Found)
		if v[i].Found == hiddenValue && v[i].Because != "" {
			v[i].Because = ofHidden
		}
	}
	return v
}

// hide removes what must not be shown from a violation: the value, and its path below the hidden property. A violation of the keyword not
// could also reveal the value by the words for what is allowed, as those for the condition of an if could, see explain.
func (d *Decoder) hide(v *Violation) {
	below := d.hideValue(v)
	if v.Keyword == "not" && (below || d.reveals(v.Allowed)) {
		v.Allowed = notUnder
	}
}

// hideValue hides the value of v if it is that of a hidden property, or is in one, and reports whether it did.
func (d *Decoder) hideValue(v *Violation) bool {
	for at := 0; at < len(v.Instance); {
		end := len(v.Instance)
		if next := strings.IndexByte(v.Instance[at+1:], '/'); next >= 0 {
			end = at + 1 + next
		}
		if strings.Contains(d.hidden+"/", v.Instance[at:end]+"/") {
			v.Instance = v.Instance[:end]
			if v.Found != nothing && v.Found != unwanted {
				v.Found = hiddenValue
			}
			return true
		}
		at = end
	}
	return false
}

// reveals reports whether words, of Allowed or Because, say more of a hidden property than that it is there.
func (d *Decoder) reveals(words string) bool {
	if words == "" || d.hidden == "" {
		return false
	}
	for step := range strings.SplitSeq(d.hidden[1:], "/") {
		name := strconv.Quote(strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~"))
		if words != name+isThere && strings.Contains(words, name) {
			return true
		}
	}
	return false
}
