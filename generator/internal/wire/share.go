package wire

import (
	"fmt"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// share makes the objects below a reader's root the ones that an earlier reader of the same struct has, where they are the
// same: every request of a stateless revision carries the same _meta.
func (l *wireLowering) share(structName string, root *model.WireObject) {
	for _, m := range root.Members {
		if m.Object == nil {
			continue
		}
		l.share(structName, m.Object)
		key := structName + " " + shapeOf(m.Object)
		if first := l.shared[key]; first != nil {
			m.Object = first
		} else {
			l.shared[key] = m.Object
		}
	}
}

// shapeOf writes down everything of an object but what it is called.
func shapeOf(o *model.WireObject) string {
	var b strings.Builder
	for _, m := range o.Members {
		fmt.Fprintf(&b, "%q %t", m.Name, m.Required)
		if m.Slot != nil {
			fmt.Fprintf(&b, " %v", *m.Slot)
		}
		if m.Object != nil {
			b.WriteString("{" + shapeOf(m.Object) + "}")
		}
		b.WriteByte(';')
	}
	return b.String()
}
