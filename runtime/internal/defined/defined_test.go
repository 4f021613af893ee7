package defined

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// The definitions of the revisions are understood as a whole: every reference, type and format of them.
func TestLET01DefinitionsOfRevisionsAreRead(t *testing.T) {
	for _, rev := range []*wire.Revision{wiretest.Revision20251125(), wiretest.Revision20260728()} {
		s := New(rev.Defined(), "_meta", func(string) error { return nil })
		s.once.Do(s.read)
		if s.err != nil || len(s.schemas) < 20 {
			t.Errorf("%s: %d definitions, %v", rev.Version, len(s.schemas), s.err)
		}
		for _, m := range rev.Methods {
			if s.schemas[m.Result] == nil && m.Result != "" {
				t.Errorf("%s: %s has no definition %q", rev.Version, m.Name, m.Result)
			}
		}
	}
}

func TestLET01DefinitionsAreHeld(t *testing.T) {
	s := New([]wire.Definition{
		{Name: "Block", Schema: `{"anyOf":[{"$ref":"Text"},{"type":"object","properties":{"type":{"const":"data","type":"string"},"data":{"type":"string","format":"byte"}},"required":["type","data"]}]}`},
		{Name: "Text", Schema: `{"type":"object","properties":{"type":{"const":"text","type":"string"},"text":{"type":"string","pattern":"^a"},"_meta":{"type":"object"}},"required":["type"]}`},
		{Name: "Many", Schema: `{"allOf":[{"$ref":"Text"},{"type":"object","properties":{"n":{"type":["integer","null"],"minimum":0,"maximum":9},"list":{"type":"array","maxItems":2,"items":{"$ref":"Block"}},"flag":{"type":"boolean"}},"additionalProperties":{"type":"string"},"required":["n"]}]}`},
	}, "_meta", func(key string) error {
		if key == "bad" {
			return errors.New("bad key")
		}
		return nil
	})
	for _, row := range []struct{ name, text, want string }{
		{"Block", `{"type":"text","text":"a"}`, ""},
		{"Block", `{"type":"text","text":"b"}`, "/text: pattern"},
		{"Block", `{"type":"data","data":"aGk="}`, ""},
		{"Block", `{"type":"data","data":"?"}`, "/data: format"},
		{"Block", `{"type":"song"}`, `"song"`},
		{"Block", `7`, "anyOf"},
		{"Text", `{"type":"text","_meta":{"good":{"bad":1}}}`, ""},
		{"Text", `{"type":"text","_meta":{"good":1,"bad":1}}`, "bad key"},
		{"Text", `{"type":"text","_meta":[]}`, "/_meta: type"},
		{"Many", `{"type":"text","n":null,"list":[{"type":"text"}],"flag":true,"other":"x","text":"a"}`, ""},
		{"Many", `{"type":"text","n":0}`, ""},
		{"Many", `{"type":"text","n":-1}`, "/n: minimum"},
		{"Many", `{"type":"text","n":10}`, "/n: maximum"},
		{"Many", `{"type":"text","n":1.5}`, "/n: type"},
		{"Many", `{"n":1}`, "/type: is required"},
		{"Many", `{"type":"text"}`, "/n: is required"},
		{"Many", `{"type":"text","n":1,"flag":1}`, "/flag: type"},
		{"Many", `{"type":"text","n":1,"other":1}`, "/other: type"},
		{"Many", `{"type":"text","n":1,"list":[1]}`, "/list/0"},
		{"Many", `{"type":"text","n":1,"list":[{"type":"text"},{"type":"text"},{"type":"text"}]}`, "/list: maxItems"},
		{"None", `{}`, "there is no definition None"},
	} {
		err := s.Check(row.name, []byte(row.text), check.Limits{}, "")
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s %s: %v, want %q", row.name, row.text, err, row.want)
		}
	}
}

// A definition that the generator could not have written is an error of every result.
func TestLET01DefinitionsThatAreWrong(t *testing.T) {
	for _, text := range []string{`{"$ref":"Nowhere"}`, `{"items":{"anyOf":[{"$ref":"Nowhere"}]}}`, `[]`} {
		s := New([]wire.Definition{{Name: "A", Schema: text}}, "_meta", nil)
		if err := s.Check("A", []byte(`{}`), check.Limits{}, ""); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// The keywords that definitions have are those that are read.
func TestLET01EveryAssertionIsRead(t *testing.T) {
	read := map[string]bool{}
	for f := range reflect.TypeFor[schema]().Fields() {
		if f.IsExported() {
			name := cmp.Or(f.Tag.Get("json"), strings.ToLower(f.Name))
			read[name] = true
			if !slices.Contains(wire.Assertions(), name) {
				t.Errorf("%s is read, and no definition has it", name)
			}
		}
	}
	for _, keyword := range wire.Assertions() {
		if !read[keyword] {
			t.Errorf("%s is not read", keyword)
		}
	}
}
