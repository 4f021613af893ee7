package keyword

import (
	"fmt"
	"testing"
)

func TestPlaceOf(t *testing.T) {
	for pointer, want := range map[string]string{
		"":                                     "[] false false",
		"/properties/a":                        "[/properties/a] true false",
		"/properties/properties":               "[/properties/properties] true false",
		"/properties/a~1b/items":               "[/properties/a~1b] false false",
		"/properties/":                         "[/properties/] true false",
		"/items/properties/a/properties/b":     "[/items/properties/a /items/properties/a/properties/b] true false",
		"/$defs/properties/items":              "[] false true",
		"/definitions/D/properties/$defs":      "[/definitions/D/properties/$defs] true false",
		"/properties/a/$defs/D":                "[/properties/a] false true",
		"/patternProperties/^a":                "[] false false",
		"/const/properties/a":                  "[] false false",
		"/dependentSchemas/properties/anyOf/0": "[] false false",
	} {
		p := PlaceOf(pointer)
		if got := fmt.Sprint(p.Properties, p.IsProperty, p.Definition); got != want {
			t.Errorf("%q: %s, want %s", pointer, got, want)
		}
	}
}
