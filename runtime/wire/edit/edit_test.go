package edit

import (
	"strings"
	"testing"
)

const tool = `{"name":"a","icons":[{"src":"x","sizes":"1"},{"sizes":"2","src":"y"}],"schema":{"properties":{"any":true,"n":1.50}}}`

func TestOmittingKeepsTheRest(t *testing.T) {
	for _, tt := range []struct {
		members []string
		want    string
	}{
		{nil, tool},
		{[]string{"title"}, tool},
		{[]string{"icons", "name"}, `{"schema":{"properties":{"any":true,"n":1.50}}}`},
		{[]string{"icons/*/sizes"}, `{"name":"a","icons":[{"src":"x"},{"src":"y"}],"schema":{"properties":{"any":true,"n":1.50}}}`},
		{[]string{"schema/properties/any"}, `{"name":"a","icons":[{"src":"x","sizes":"1"},{"sizes":"2","src":"y"}],"schema":{"properties":{"n":1.50}}}`},
		{[]string{"name/*/src"}, tool},
	} {
		if got := string(AppendOmitting([]byte("before "), tool, tt.members)); got != "before "+tt.want {
			t.Errorf("without %v: %s, want %s", tt.members, got, tt.want)
		}
	}
}

func TestAtChangesWhatIsThere(t *testing.T) {
	upper := func(value []byte) ([]byte, bool) {
		return []byte(strings.ToUpper(string(value))), string(value) != "1.50"
	}
	for path, want := range map[string]string{
		"name":                    strings.Replace(tool, `"a"`, `"A"`, 1),
		"icons/*/src":             strings.NewReplacer(`"x"`, `"X"`, `"y"`, `"Y"`).Replace(tool),
		"schema/properties/{}":    strings.Replace(tool, "true", "TRUE", 1),
		"schema/properties/n":     tool,
		"nowhere/*/name":          tool,
		"name/{}":                 tool,
		"schema/properties/*/any": tool,
	} {
		if got := string(At([]byte(tool), path, upper)); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if ObjectOf([]byte(`[1]`)) != nil || ObjectOf([]byte(`{"a":`)) != nil {
		t.Error("what is no object was read as one")
	}
}
