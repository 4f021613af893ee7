package check

import "testing"

// TestVAL02TupleViolationsSayWhere: what is wrong in an item is said of that item.
func TestVAL02TupleViolationsSayWhere(t *testing.T) {
	point := &Array{Min: 2, Max: 2}
	decode := func(d *Decoder, v *[]float64) {
		for ok := d.Array(point); ok; ok = d.Item() {
			switch d.Index() {
			case 0:
				*v = append(*v, d.Float(&Number{At: "#/prefixItems/0", Has: Minimum}))
			default:
				Add(d, v, func(d *Decoder, v *float64) { *v = d.Float(&Number{At: "#/prefixItems/1"}) })
			}
		}
	}
	var v []float64
	err, _ := Decode([]byte(`[-1, "x", 3]`), Limits{}, decode, &v).(Violations)
	if len(err) != 3 || err[0].Instance != "" || err[1].Instance != "/0" || err[2].Instance != "/1" {
		t.Errorf("got %v", err)
	}
	item := func(b []byte, v *float64) []byte { return AppendFloat(b, *v) }
	if got := string(append(AppendItems(AppendFloat(Item([]byte("[")), 1.), []float64{2, 3}, item), ']')); got != "[1,2,3]" {
		t.Errorf("got %s", got)
	}
}
