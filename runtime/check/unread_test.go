package check_test

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// TestReadAfterRefusedItem refuses an item of a list. A separate text in a later item, and what comes behind the list, are read all the same: servers
// answer with what they find there.
func TestReadAfterRefusedItem(t *testing.T) {
	const text = `{"items":["wrong","kept",["list"],{"a":"map"}],"id":"seven"}`
	var item, id string
	var list []string
	var mapped map[string]string
	decodeItem := func(d *check.Decoder, _ *struct{}) {
		switch d.Index() {
		case 1:
			if err := check.Within(d, func(d *check.Decoder, v *string) { *v = d.String(nil) }, &item); err != nil {
				t.Error(err)
			}
		case 2:
			_ = check.Within(d, func(d *check.Decoder, v *[]string) { *v = d.Strings(nil, nil) }, &list)
		case 3:
			_ = check.Within(d, func(d *check.Decoder, v *map[string]string) { *v = check.Map(d, nil, decodeText) }, &mapped)
		default:
			d.String(&check.String{Max: 3})
		}
	}
	err := check.Decode([]byte(text), check.Limits{}, func(d *check.Decoder, _ *struct{}) {
		for f := d.Object(&check.Object{Names: []string{"items", "id"}}); f >= 0; f = d.Next() {
			if f == 0 {
				check.List(d, nil, decodeItem)
			} else {
				id = d.String(nil)
			}
		}
	}, new(struct{}))
	if wrong, ok := err.(check.Violations); !ok || len(wrong) != 1 || wrong[0].Instance != "/items/0" {
		t.Errorf("refused with %v", err)
	}
	if item != "kept" || id != "seven" || len(list) != 1 || list[0] != "list" || mapped["a"] != "map" {
		t.Errorf("read %q, %q, %q and %q", item, list, mapped, id)
	}
}

// TestRefusedListKeepsNothing counts what is allocated for a list of which the first item is refused.
func TestRefusedListKeepsNothing(t *testing.T) {
	text := records(100)
	good := testing.AllocsPerRun(10, func() { _ = check.Decode(text, check.Limits{}, decodeRecords, new([]Record)) })
	text = append([]byte(`[{"id":1},`), text[1:]...)
	bad := testing.AllocsPerRun(10, func() { _ = check.Decode(text, check.Limits{}, decodeRecords, new([]Record)) })
	if bad > good/2 {
		t.Errorf("%v allocations to refuse the list, %v to read it", bad, good)
	}
}
