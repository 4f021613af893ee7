package revision

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// decoder turns the nodes of a rules file into Go values and collects the errors.
type decoder struct {
	ds schema.Diagnostics
}

// field is a known key of an object, with the function that stores its value.
type field struct {
	key      string
	required bool
	set      func(n *schema.Node)
}

func must(key string, set func(*schema.Node)) field { return field{key, true, set} }
func may(key string, set func(*schema.Node)) field  { return field{key, false, set} }

// object hands each member of n to its field; a key without one is an error, so that a misspelt rule is
// never silently ignored.
func (d *decoder) object(n *schema.Node, fields ...field) {
	if !d.kind(n, schema.Object) {
		return
	}
	for i := range n.Members {
		m := &n.Members[i]
		at := slices.IndexFunc(fields, func(f field) bool { return f.key == m.Key })
		if at < 0 {
			d.unknown(m, "key", keys(fields))
			continue
		}
		fields[at].set(m.Value)
	}
	for _, f := range fields {
		if f.required && n.Get(f.key) == nil {
			d.ds.Report(n, "missing-key", "", "%s is missing", f.key)
		}
	}
}

func keys(fields []field) []string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.key
	}
	return all
}

// each calls set with every member of an object; any key is allowed unless known is given.
func (d *decoder) each(n *schema.Node, what string, known []string, set func(m *schema.Member)) {
	if !d.kind(n, schema.Object) {
		return
	}
	for i := range n.Members {
		m := &n.Members[i]
		if known != nil && !slices.Contains(known, m.Key) {
			d.unknown(m, what, known)
			continue
		}
		set(m)
	}
}

func (d *decoder) items(n *schema.Node, set func(item *schema.Node)) {
	if d.kind(n, schema.Array) {
		for _, item := range n.Items {
			set(item)
		}
	}
}

// text stores a string; if values are given, only one of these. T may be a defined string type.
func text[T ~string](d *decoder, to *T, values ...string) func(*schema.Node) {
	return func(n *schema.Node) {
		if !d.kind(n, schema.String) {
			return
		}
		if len(values) > 0 && !slices.Contains(values, n.Text) {
			d.ds.Report(n, "unknown-value", schema.DidYouMean(n.Text, values), "%q is none of %s", n.Text, strings.Join(values, ", "))
			return
		}
		*to = T(n.Text)
	}
}

func (d *decoder) texts(to *[]string) func(*schema.Node) {
	return func(n *schema.Node) {
		d.items(n, func(item *schema.Node) {
			if d.kind(item, schema.String) {
				*to = append(*to, item.Text)
			}
		})
	}
}

func (d *decoder) boolean(to *bool) func(*schema.Node) {
	return func(n *schema.Node) {
		if d.kind(n, schema.Bool) {
			*to = n.Text == "true"
		}
	}
}

func (d *decoder) integer(to *int) func(*schema.Node) {
	return func(n *schema.Node) {
		if !d.kind(n, schema.Number) {
			return
		}
		i, err := strconv.Atoi(n.Text)
		if err != nil {
			d.ds.Report(n, "wrong-type", "", "want an integer, got %s", n.Text)
		}
		*to = i
	}
}

func (d *decoder) kind(n *schema.Node, want schema.Kind) bool {
	if n.Kind != want {
		d.ds.Report(n, "wrong-type", "", "want %s, got %s", want, n.Kind)
	}
	return n.Kind == want
}

func (d *decoder) unknown(m *schema.Member, what string, known []string) {
	d.ds.ReportAt(m.KeyPos, m.Value.Pointer, "unknown-key", schema.DidYouMean(m.Key, known), "unknown %s %q", what, m.Key)
}
