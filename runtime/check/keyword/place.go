package keyword

import (
	"strconv"
	"strings"
)

// Sensitive is the keyword of a property whose value is for the handler alone. It validates nothing. Such values are kept out of violations, logs and the
// like by the names of their properties. So the keyword has to stand at a property, and a $ref from another place to its schema would show values.
const Sensitive = "x-sensitive"

// Place is where a schema stands within another.
type Place struct {
	// Properties are the JSON Pointers of the properties that the schema is in, from the outermost to the innermost; the last is its own if it is one.
	Properties []string
	// Definition says that the schema is in a definition, and in no property within that: where its values are depends on what refers to it.
	Definition bool
	IsProperty bool // it is the schema of a property itself
}

// PlaceOf returns the place of the schema at a JSON Pointer.
func PlaceOf(pointer string) (p Place) {
	keys, holder := Keywords, ""
	for at := 0; at < len(pointer); {
		end := len(pointer)
		if next := strings.IndexByte(pointer[at+1:], '/'); next >= 0 {
			end = at + 1 + next
		}
		key := pointer[at+1 : end]
		p.IsProperty = keys == Names && holder == "properties"
		switch {
		case p.IsProperty:
			p.Properties, p.Definition = append(p.Properties, pointer[:end]), false
		case keys != Names:
		case holder == "$defs" || holder == "definitions":
			p.Definition = true
		}
		keys, holder, at = keys.Below(key), key, end
	}
	return p
}

// HasSensitive returns advice for a schema that has Sensitive and is no property: where to write it instead.
func (p Place) HasSensitive() string {
	switch own := p.property(); {
	case p.Definition:
		return "write it at each property that refers to this schema, beside the $ref"
	case own != "":
		return "write it at the property " + own
	}
	return "write it at a property: list what is sensitive by name in properties"
}

// HidesReference returns advice for a reference, at this place, that leads to a sensitive schema though the place is not sensitive: what to write.
func (p Place) HidesReference() string {
	switch own := p.property(); {
	case p.IsProperty:
		return "write " + Sensitive + ": true at the property, beside the reference"
	case own != "":
		return "write " + Sensitive + ": true at the property " + own
	}
	return "move that schema to $defs without " + Sensitive + ", refer to it there, and write " + Sensitive + ": true at each property that is sensitive"
}

// property returns the name of the innermost property that the schema is in, quoted; "" if there is none, or a definition is between the two.
func (p Place) property() string {
	if len(p.Properties) == 0 || p.Definition {
		return ""
	}
	own := p.Properties[len(p.Properties)-1]
	return strconv.Quote(unescape.Replace(own[strings.LastIndexByte(own, '/')+1:]))
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")
