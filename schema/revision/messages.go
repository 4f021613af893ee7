package revision

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

func (d *decoder) messages(n *schema.Node, r *Revision) {
	vocabulary := messageWords()
	r.Messages = slices.Grow(r.Messages, len(n.Members))
	d.each(n, "message", nil, func(m *schema.Member) {
		known, ok := vocabulary[m.Key]
		if !ok {
			d.unknown(m, "message", sortedKeys(vocabulary))
			return
		}
		message := d.message(m.Key, m.Value, known)
		message.Pos = m.KeyPos
		r.Messages = append(r.Messages, message)
	})
}

// message decodes one entry of `messages`, or one side of `capabilities`.
func (d *decoder) message(name string, n *schema.Node, known words) Message {
	m := Message{Name: name, Pos: n.Pos}
	d.object(n,
		must("definition", text(d, &m.Definition)),
		may("include", text(d, &m.Include)),
		may("extended", func(n *schema.Node) {
			d.each(n, "path", nil, func(e *schema.Member) {
				x := Extended{Path: splitPath(e.Key), Pos: e.KeyPos}
				text(d, &x.Definition)(e.Value)
				m.Extended = append(m.Extended, x)
			})
		}),
		may("slots", func(n *schema.Node) {
			m.Slots = make([]Slot, 0, len(n.Members))
			d.each(n, "slot", nil, func(s *schema.Member) {
				kind, ok := known[s.Key]
				if !ok {
					d.unknown(s, "slot", sortedKeys(known))
					return
				}
				var path string
				text(d, &path)(s.Value)
				m.Slots = append(m.Slots, Slot{Name: s.Key, Pos: s.Value.Pos, Kind: kind, Path: splitPath(path)})
			})
		}),
		may("constants", func(n *schema.Node) {
			d.each(n, "path", nil, func(c *schema.Member) {
				k := Constant{Path: splitPath(c.Key), Pos: c.KeyPos}
				text(d, &k.Value)(c.Value)
				m.Constants = append(m.Constants, k)
			})
		}),
	)
	sortMessage(&m)
	return m
}

func sortMessage(m *Message) {
	slices.SortFunc(m.Slots, func(a, b Slot) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(m.Constants, func(a, b Constant) int { return slices.Compare(a.Path, b.Path) })
	slices.SortFunc(m.Extended, func(a, b Extended) int { return slices.Compare(a.Path, b.Path) })
}

func (d *decoder) http(n *schema.Node, h *HTTP) {
	d.object(n,
		may("headers", d.headers(&h.Headers, headerNames())),
		may("names", d.headers(&h.Names, nil)),
		may("encoded", func(n *schema.Node) {
			d.object(n, must("prefix", text(d, &h.EncodedPrefix)), must("suffix", text(d, &h.EncodedSuffix)))
		}),
		may("statuses", func(n *schema.Node) {
			d.each(n, "error", errorNames(), func(m *schema.Member) {
				s := Status{Error: m.Key, Pos: m.KeyPos}
				d.integer(&s.Code)(m.Value)
				h.Statuses = append(h.Statuses, s)
			})
		}),
		may("primed", d.boolean(&h.Primed)),
		must("disconnect", text(d, &h.Disconnect, DisconnectContinues, DisconnectCancels)),
	)
	slices.SortFunc(h.Headers, func(a, b Header) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(h.Names, func(a, b Header) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(h.Statuses, func(a, b Status) int { return cmp.Compare(a.Error, b.Error) })
}

func (d *decoder) headers(to *[]Header, known []string) func(*schema.Node) {
	return func(n *schema.Node) {
		d.each(n, "header", known, func(m *schema.Member) {
			h := Header{Name: m.Key, Pos: m.Value.Pos}
			text(d, &h.Value)(m.Value)
			*to = append(*to, h)
		})
	}
}

// splitPath splits "a/b"; "." is the value itself. Keys that contain "/" are written as `$name` (see MetaKey).
func splitPath(path string) []string {
	if path == "." || path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

// show is the reverse of splitPath, for messages.
func show(path []string) string {
	if len(path) == 0 {
		return "."
	}
	return strings.Join(path, "/")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
