package naming

import "testing"

// TestVAL11NoMethodHasANameThatVetTakesForAnother: a method MarshalJSON of other parameters is refused by go vet.
func TestVAL11NoMethodHasANameThatVetTakesForAnother(t *testing.T) {
	for _, text := range []string{
		"marshal_json", "MarshalJSON", "unmarshal_json", "marshal_xml", "unmarshal_xml", "gob_encode", "gob_decode", "write_byte",
		"read_byte", "read_rune", "unread_byte", "unread_rune",
	} {
		name := GoName(text)
		if got := Method(name, text); got == name || len(got) < len(name) {
			t.Errorf("%s became %s", text, got)
		}
	}
	if !IsStandardMethod("ReadByte") || IsStandardMethod("ReadFile") {
		t.Error("what go vet knows")
	}
	if got := Method("ReadFile", "read_file"); got != "ReadFile" {
		t.Error(got)
	}
}
