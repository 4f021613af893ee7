package revision

import (
	"slices"
	"strings"
)

// Message returns the entry of that name, or nil.
func (r *Revision) Message(name string) *Message {
	for i := range r.Messages {
		if r.Messages[i].Name == name {
			return &r.Messages[i]
		}
	}
	return nil
}

// Slot returns the slot of that name, or nil.
func (m *Message) Slot(name string) *Slot {
	for i := range m.Slots {
		if m.Slots[i].Name == name {
			return &m.Slots[i]
		}
	}
	return nil
}

func (m *Message) names() []string {
	all := make([]string, len(m.Slots))
	for i := range m.Slots {
		all[i] = m.Slots[i].Name
	}
	return all
}

func (l *linker) messages() {
	for i := range l.r.Messages {
		l.include(&l.r.Messages[i])
	}
	for i := range l.r.Messages {
		l.slots(&l.r.Messages[i])
	}
}

func (l *linker) capability(m *Message) { l.slots(m) }

// include adds the slots of another message; their paths are resolved in the definition of m.
func (l *linker) include(m *Message) {
	if m.Include == "" {
		return
	}
	from := l.r.Message(m.Include)
	if from == nil || from.Include != "" {
		l.report(m.Pos, "unknown-message", "", "%s can not include %q: only a message without include of its own", m.Name, m.Include)
		return
	}
	for _, s := range from.Slots {
		if m.Slot(s.Name) == nil {
			m.Slots = append(m.Slots, s)
		}
	}
	sortMessage(m)
}

func (l *linker) slots(m *Message) {
	base, ok := l.definition(m.Definition, m.Pos)
	if !ok {
		return
	}
	for i := range m.Slots {
		l.slot(m, base, &m.Slots[i])
	}
	for i := range m.Constants {
		l.constant(m, base, &m.Constants[i])
	}
}

func (l *linker) slot(m *Message, base Place, s *Slot) {
	if s.Kind == SlotTask && len(s.Path) == 0 {
		l.nested(m, s, base)
		return
	}
	place, path, ok := l.resolve(m, base, s.Path)
	if !ok {
		l.report(s.Pos, "unknown-path", l.newMembers(m.Definition), "%s has no %s", m.Definition, show(s.Path))
		return
	}
	s.Path, s.Always = path, l.always(m, base, path)
	if place.Required {
		s.Always = len(path)
	}
	if want := s.Kind.types(); place.Types()&want == 0 {
		l.report(s.Pos, "wrong-type", "", "%s of %s is no %s", show(path), m.Definition, s.Kind)
		return
	}
	l.nested(m, s, place)
}

// nested checks that the task inside a message has the members that the message `task` names.
func (l *linker) nested(m *Message, s *Slot, at Place) {
	task, ok := l.r.Message("task"), true
	switch s.Kind {
	case SlotTask:
	case SlotTasks:
		at, ok = at.step("*")
	default:
		return
	}
	if task == nil || !ok {
		l.report(s.Pos, "unknown-message", "", "%s needs the message task", m.Name)
		return
	}
	for _, inner := range task.Slots {
		if _, ok := walk(at, inner.Path); !ok {
			l.report(s.Pos, "unknown-path", "", "%s: its task has no %s", m.Definition, show(inner.Path))
		}
	}
}

// constant checks that the schema has that member and, if it lists values, this one.
func (l *linker) constant(m *Message, base Place, c *Constant) {
	place, path, ok := l.resolve(m, base, c.Path)
	if !ok {
		l.report(c.Pos, "unknown-path", "", "%s has no %s", m.Definition, show(c.Path))
		return
	}
	c.Path = path
	if allowed := values(place); len(allowed) > 0 && !slices.Contains(allowed, c.Value) {
		l.report(c.Pos, "wrong-constant", "", "%s of %s is %s, not %q", show(path), m.Definition, strings.Join(allowed, " or "), c.Value)
	}
}

// resolve walks a path from the message's definition. `$name` is replaced by its key; if the schema does not name that key,
// its definition is the one in `meta`.
func (l *linker) resolve(m *Message, base Place, steps []string) (Place, []string, bool) {
	at, path := l.extend(m, base, nil), make([]string, 0, len(steps))
	for _, step := range steps {
		name, special := strings.CutPrefix(step, "$")
		key, shape := step, Place{}
		if special {
			var ok bool
			if key, shape, ok = l.key(name); !ok {
				return at, path, false
			}
		}
		path = append(path, key)
		next, ok := at.step(key)
		if !ok && special {
			next, ok = shape, true
		}
		if next = l.extend(m, next, path); !ok && len(next.Schemas) == 0 {
			return next, path, false
		}
		at = next
	}
	return at, path, true
}

// always counts the steps of a path, from the first one, that every valid message has.
func (l *linker) always(m *Message, base Place, path []string) int {
	at := l.extend(m, base, nil)
	for i := range path {
		next, _ := at.step(path[i])
		if !next.Required {
			return i
		}
		at = l.extend(m, next, path[:i+1])
	}
	return len(path)
}

// Place returns the place of a slot of m, one of the messages of r.
func (r *Revision) Place(m *Message, s *Slot) Place {
	l := linker{r: r}
	base, _ := r.Definition(m.Definition)
	at := l.extend(m, base, nil)
	for i, key := range s.Path {
		next, ok := at.step(key)
		if k := slices.IndexFunc(r.Meta, func(k MetaKey) bool { return k.Key == key }); !ok && k >= 0 {
			next = r.valueOf(&r.Meta[k])
		}
		at = l.extend(m, next, s.Path[:i+1])
	}
	return at
}

// valueOf is the place of the value of a key of _meta where no schema names the key.
func (r *Revision) valueOf(k *MetaKey) Place {
	at, _ := r.Definition(k.Definition)
	at.Required = k.Required
	return at
}

// key looks up `$name`: it is a key of _meta, or the id of an extension.
func (l *linker) key(name string) (key string, shape Place, ok bool) {
	if k := l.r.MetaKey(name); k != nil {
		return k.Key, l.r.valueOf(k), true
	}
	for _, e := range l.r.Extensions {
		if e.Name == name {
			return e.ID, Place{}, true
		}
	}
	return "", Place{}, false
}

func (l *linker) extend(m *Message, at Place, path []string) Place {
	for _, x := range m.Extended {
		if !slices.Equal(x.Path, path) {
			continue
		}
		if more, ok := l.definition(x.Definition, x.Pos); ok {
			at.Schemas = append(slices.Clip(at.Schemas), more.Schemas...)
		}
	}
	return at
}

// types are the JSON types of such a slot: its place must allow one of them.
func (k SlotKind) types() Types {
	switch k {
	case SlotString:
		return TypeString
	case SlotInteger, SlotNumber:
		return TypeInteger | TypeNumber
	case SlotBool:
		return TypeBool
	case SlotID:
		return TypeString | TypeInteger
	case SlotStrings, SlotTasks:
		return TypeArray
	case SlotTask:
		return TypeObject
	}
	return AnyType
}
