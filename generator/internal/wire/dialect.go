package wire

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// Dialect turns the rules of one revision into tables for a client, as Lower does for a server. A client does not
// know beforehand which server it will talk to, so the tables have all of the revision.
func Dialect(rev *revision.Revision) *model.Dialect {
	l := &dialectLowering{wireLowering: wireLowering{rev: rev, wire: &model.Wire{}}, made: map[string]*model.Layout{}}
	l.out = &model.Dialect{
		Revision:  rev.Name,
		Suffix:    revisionSuffix(rev.Name),
		File:      "dialect_" + strings.ReplaceAll(rev.Name, "-", "_") + ".gen.go",
		Handshake: rev.Era == revision.Handshake,
		Batches:   rev.Batches,
		HasTasks:  rev.Task != nil,
		Meta:      metaMember,
	}
	for _, m := range byName(rev.Methods) {
		if m.From.Includes(revision.FromClient) {
			l.call(m)
		}
		if m.From.Includes(revision.FromServer) {
			l.incoming(m)
		}
	}
	slices.SortFunc(l.out.Calls, func(a, b model.Call) int { return strings.Compare(a.Op, b.Op) })
	l.groups()
	if rev.Task != nil {
		l.out.TaskFlags = taskFlags(rev.Task)
	}
	for _, m := range dialectMessages() {
		if layout := l.layout(m.rule); layout != nil {
			l.out.Messages = append(l.out.Messages, model.DialectMessage{Field: m.field, Layout: layout})
		}
	}
	return l.out
}

type dialectLowering struct {
	wireLowering // for what clients and servers have in common
	out          *model.Dialect
	made         map[string]*model.Layout // by message
}

// callerOp is an operation of messages that a client sends: its constant in package runtime/wire, the message of its params (the first in the list that
// the revision has), and the message of its result.
type callerOp struct {
	name   string
	params []string
	result string
}

// callerOps has the operations by their op in the rules.
func callerOps() map[string]callerOp {
	return map[string]callerOp{
		"initialize":   {name: "OpInitialize", params: []string{"initialize"}, result: "initializeResult"},
		"initialized":  {name: "OpInitialized"},
		"discover":     {name: "OpDiscover", params: []string{"discover"}, result: "discoverResult"},
		"ping":         {name: "OpPing"},
		"cancelled":    {name: "OpCancelled", params: []string{"cancelled"}},
		"progress":     {name: "OpProgress", params: []string{"progress"}},
		"listTools":    {name: "OpListTools", params: []string{"listTools"}, result: "toolList"},
		"callTool":     {name: "OpCallTool", params: []string{"callTool"}, result: "callResult"},
		"getTask":      {name: "OpGetTask", params: []string{"getTask"}, result: "taskDetail"},
		"taskResult":   {name: "OpTaskResult", params: []string{"taskResult"}, result: "callResult"},
		"listTasks":    {name: "OpListTasks", params: []string{"listTasks", "listTools"}, result: "taskList"},
		"cancelTask":   {name: "OpCancelTask", params: []string{"cancelTask"}, result: "taskCancelled"},
		"updateTask":   {name: "OpUpdateTask", params: []string{"updateTask"}, result: "taskUpdated"},
		"listen":       {name: "OpListen", params: []string{"listen"}, result: "listenResult"},
		"setLevel":     {name: "OpSetLevel", params: []string{"setLevel"}},
		"subscribe":    {name: "OpSubscribe", params: []string{"subscribe"}},
		"unsubscribe":  {name: "OpUnsubscribe", params: []string{"unsubscribe"}},
		"rootsChanged": {name: "OpRootsChanged"},

		"listPrompts":           {name: "OpListPrompts", params: []string{"listTools"}, result: "promptList"},
		"getPrompt":             {name: "OpGetPrompt", params: []string{"getPrompt"}},
		"listResources":         {name: "OpListResources", params: []string{"listTools"}, result: "resourceList"},
		"listResourceTemplates": {name: "OpListTemplates", params: []string{"listTools"}, result: "templateList"},
		"readResource":          {name: "OpReadResource", params: []string{"readResource"}, result: "resourceRead"},
		"complete":              {name: "OpComplete"},
	}
}

// incomingParams are the messages of the params that a server sends, by the op in the rules.
func incomingParams() map[string]string {
	return map[string]string{
		"toolsChanged": "changed", "promptsChanged": "changed", "resourcesChanged": "changed", "resourceUpdated": "resourceUpdated",
		"cancelled": "cancelled", "progress": "progress", "acknowledged": "acknowledged", "log": "log", "taskStatus": "taskStatus",
		"elicit": "elicit", "createMessage": "createMessage", "elicitationComplete": "elicitationComplete",
		"getTask": "getTask", "taskResult": "taskResult", "listTasks": "listTools", "cancelTask": "cancelTask",
	}
}

// dialectMessages are the fields of wire.Dialect whose type is a layout.
func dialectMessages() []struct{ field, rule string } {
	return []struct{ field, rule string }{
		{"InputRequired", "inputRequired"}, {"TaskCreated", "taskCreated"}, {"TaskParams", "taskParams"}, {"ElicitResult", "elicitResult"},
		{"ElicitURL", "elicitURL"}, {"UnsupportedVersion", "unsupportedVersion"}, {"MissingCapability", "missingCapability"},
	}
}

func (l *dialectLowering) call(m *revision.Method) {
	op, ok := callerOps()[m.Op]
	if !ok {
		return
	}
	call := model.Call{Op: op.name, Name: m.Name, Result: l.layout(op.result)}
	params := ""
	if m.Kind == revision.Request {
		params = "request"
	}
	for _, name := range op.params {
		if _, ok := l.rule(name); ok {
			params = name
			break
		}
	}
	call.Params = l.layout(params)
	call.Flags = flagsOn(flags{
		{"Notification", m.Kind == revision.Notification},
		{"Uncancellable", m.Kind == revision.Request && !m.Cancellable},
		{"Task", m.Task != ""},
		{"Cacheable", m.Kind == revision.Request && l.cacheable(m)},
		{"Input", !l.out.Handshake && l.asks(params)},
	})
	if slot := l.rev.Server.Slot(m.Capability); slot != nil {
		call.Needs = pathText(slot.Path)
	}
	if member := l.header(m.Name); member != "" {
		call.Header = l.slotAt(params, member)
	}
	l.out.Calls = append(l.out.Calls, call)
}

// slotAt is the slot at the top-level member of a message.
func (l *dialectLowering) slotAt(message, member string) string {
	rule, _ := l.rule(message)
	for _, s := range rule.Slots {
		if len(s.Path) == 1 && s.Path[0] == member {
			return slotName(s.Name, message)
		}
	}
	return "SlotNone"
}

func (l *dialectLowering) incoming(m *revision.Method) {
	op := "Op" + naming.GoName(m.Op)
	if m.Op == "" {
		return
	}
	sent := l.sent(m, op)
	in := model.Incoming{Op: op, Name: m.Name, Capability: sent.Capability, Needs: sent.Needs, Params: l.layout(incomingParams()[m.Op])}
	in.Flags = flagsOn(flags{{"Notification", m.Kind == revision.Notification}, {"Input", m.Kind == revision.Input}})
	if slot := l.rev.Client.Slot(m.Task); slot != nil {
		in.Task = pathText(slot.Path)
	}
	l.out.Incoming = append(l.out.Incoming, in)
}

type flags []struct {
	name string
	on   bool
}

// flagsOn returns the names of the flags that are on.
func flagsOn(all flags) (names []string) {
	for _, f := range all {
		if f.on {
			names = append(names, f.name)
		}
	}
	return names
}

func (l *dialectLowering) groups() {
	l.group("Offers", places(l.rev.Server))
	l.group("Declares", places(l.rev.Client))
	l.group("Codes", l.codes())
	l.group("Result", l.resultRules())
	l.group("HTTP", l.http())
	l.out.Groups = l.wire.Groups
}

// places are the paths of one side's capabilities, without experimental and extensions, which only contain others.
func places(side revision.Message) (all []model.WireValue) {
	for _, s := range side.Slots {
		if s.Name != "experimental" && s.Name != "extensions" {
			all = append(all, model.WireValue{Field: naming.GoName(s.Name), Text: pathText(s.Path)})
		}
	}
	return all
}

// layout makes the layout of a message, once; nil for one that the revision lacks, or that has no slots.
func (l *dialectLowering) layout(name string) *model.Layout {
	if made, ok := l.made[name]; ok {
		return made
	}
	rule, ok := l.rule(name)
	if !ok {
		return nil
	}
	out := &model.Layout{Ident: name + l.out.Suffix}
	l.fill(out, rule, nil)
	if len(out.Members) == 0 {
		out = nil
	} else {
		l.out.Layouts = append(l.out.Layouts, out)
	}
	l.made[name] = out
	return out
}

// fill adds the slots of a message to out, below path. The slots of a task are in a member, or flat in the message.
func (l *dialectLowering) fill(out *model.Layout, rule revision.Message, path []string) {
	for _, s := range rule.Slots {
		at := slices.Concat(path, s.Path)
		if s.Kind == revision.SlotTask {
			inner, _ := l.rule("task")
			l.fill(out, inner, at)
			continue
		}
		layoutAt(out, at).Slot = slotName(s.Name, rule.Name)
	}
	for _, c := range rule.Constants {
		layoutAt(out, slices.Concat(path, c.Path)).Constant = schema.QuoteJSON(c.Value)
	}
}

// layoutAt returns the member at path, and makes it if there is none. Members are sorted by name.
func layoutAt(o *model.Layout, path []string) *model.LayoutMember {
	for {
		i, found := slices.BinarySearchFunc(o.Members, path[0], func(m model.LayoutMember, name string) int { return strings.Compare(m.Name, name) })
		if !found {
			o.Members = slices.Insert(o.Members, i, model.LayoutMember{Name: path[0]})
		}
		m := &o.Members[i]
		if path = path[1:]; len(path) == 0 {
			return m
		}
		if m.Inside == nil {
			m.Inside = &model.Layout{}
		}
		o = m.Inside
	}
}

// slotName is the constant of package runtime/wire for a slot. The elements of every list are SlotItems.
func slotName(slot, message string) string {
	switch {
	case message == "task" && slot == "id":
		slot = "taskId"
	case slot == "tools" || slot == "tasks":
		slot = "items"
	}
	return "Slot" + naming.GoName(slot)
}
