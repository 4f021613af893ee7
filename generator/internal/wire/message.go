package wire

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// reader returns the function that reads the params of one message, and makes it if there is none yet.
func (l *wireLowering) reader(rule string) *model.Message {
	return l.message(wireMessage{rule: rule, structName: "Params", param: "p", read: true, slots: paramSlots()})
}

// wireField makes the function for one field of wire.Revision. A message that the revision lacks leaves the field nil.
func (l *wireLowering) wireField(m wireMessage) {
	made := l.message(m)
	if made == nil {
		return
	}
	field := *made
	field.Field = m.field
	l.wire.Messages = append(l.wire.Messages, &field)
}

func (l *wireLowering) message(m wireMessage) *model.Message {
	rule, ok := l.rule(m.rule)
	if !ok {
		return nil
	}
	if bareTask(rule) && !m.read {
		return l.message(taskMessage()) // the message is a task, so it is written by the same function
	}
	made := &model.Message{Append: !m.read, Struct: m.structName, Var: m.param, Root: l.tree(rule, m)}
	made, fresh := l.shared.once(made, m.rule, l.wire.Suffix)
	if fresh {
		l.wire.Functions = append(l.wire.Functions, made)
	}
	return made
}

// bareTask reports whether a message is a task and nothing else: its only slot is a task, at the top.
func bareTask(m revision.Message) bool {
	return len(m.Slots) == 1 && m.Slots[0].Kind == revision.SlotTask && len(m.Slots[0].Path) == 0 && len(m.Constants) == 0
}

func taskMessage() wireMessage {
	all := wireMessages()
	return all[slices.IndexFunc(all, func(m wireMessage) bool { return m.rule == "task" })]
}

// tree makes the objects of a message, each within its outer one, from the paths of the slots.
func (l *wireLowering) tree(rule revision.Message, m wireMessage) *model.WireObject {
	root := &model.WireObject{}
	for _, slot := range rule.Slots {
		if slot.Kind == revision.SlotTask && len(slot.Path) == 0 {
			l.addTaskMembers(root, m)
			continue
		}
		if slot.Kind == revision.SlotTask {
			member := descend(root, slot.Path, slot.Always)
			member.Call = l.message(taskMessage()).Func
			continue
		}
		field, ok := m.slots[slot.Name]
		if !ok || len(slot.Path) == 0 || m.read && m.meta != "" && len(slot.Path) > 1 {
			continue
		}
		member := descend(root, slot.Path, slot.Always)
		member.Slot = &field
		if m.structName == "Params" {
			member.Shape = l.shapeOfSlot(&rule, &slot)
		}
	}
	for _, c := range rule.Constants {
		if !m.read {
			descend(root, c.Path, len(c.Path)).Literal = schema.QuoteJSON(c.Value)
		}
	}
	if m.meta != "" {
		l.splice(root, m)
	}
	if m.read && m.structName == "Params" {
		at, _ := l.rev.Definition(rule.Definition)
		divide(root, at)
	}
	order(root)
	return root
}

// addTaskMembers adds the members of the task to those of the message.
func (l *wireLowering) addTaskMembers(root *model.WireObject, m wireMessage) {
	task, _ := l.rule("task")
	for _, slot := range task.Slots {
		if field, ok := m.slots[slot.Name]; ok && len(slot.Path) > 0 {
			member := descend(root, slot.Path, slot.Always)
			member.Slot = &field
		}
	}
}

// metaMember is the member that every message may have; handlers may add members of their own to it.
const metaMember = "_meta"

// splice adds _meta: a reader takes it as JSON, an appender writes the handler's members into it.
func (l *wireLowering) splice(root *model.WireObject, m wireMessage) {
	member := descend(root, []string{metaMember}, 0)
	if m.read {
		member.Slot = &model.WireSlot{Field: m.meta, Kind: model.RawSlot}
		return
	}
	if member.Object == nil {
		member.Object = &model.WireObject{}
	}
	member.Object.Splice = m.meta
}

// descend returns the member at path and makes the objects on the way. The first steps of path, as many as required says, become required: they
// must be there when reading (LET05), and are always written (LET15).
func descend(o *model.WireObject, path []string, required int) *model.WireMember {
	for i, step := range path {
		member := findOrAdd(o, step)
		member.Required = member.Required || i < required
		if i == len(path)-1 {
			return member
		}
		if member.Object == nil {
			member.Object = &model.WireObject{}
		}
		o = member.Object
	}
	return nil
}

// findOrAdd returns the member with that name; it adds one if there is none.
func findOrAdd(o *model.WireObject, name string) *model.WireMember {
	for _, m := range o.Members {
		if m.Name == name {
			return m
		}
	}
	m := &model.WireMember{Name: name, Quoted: schema.QuoteJSON(name)}
	o.Members = append(o.Members, m)
	return m
}

// order puts required members first and _meta last, the rest by name: the order that wire.Rule of the runtime expects.
func order(o *model.WireObject) {
	rank := func(m *model.WireMember) int {
		switch {
		case m.Name == metaMember:
			return 2
		case m.Required:
			return 0
		}
		return 1
	}
	slices.SortFunc(o.Members, func(a, b *model.WireMember) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	for _, m := range o.Members {
		if m.Object != nil {
			order(m.Object)
		}
	}
	for _, form := range o.Forms {
		order(form.Object)
	}
}
