package wire

import (
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// words lowers what the runtime needs beside operations and messages: codes, keys, headers. Values that the revision lacks are left out, as are
// empty groups.
func (l *wireLowering) words() {
	if tool := definition(l.rev, "Tool"); tool.Get("properties").Get(executionMember) != nil {
		l.wire.ToolExecution = executionMember
	}
	l.group("View", l.view())
	l.group("Codes", l.codes())
	l.group("Meta", l.metaKeys())
	l.group("Result", l.resultRules())
	l.own()
	l.group("HTTP", l.http())
}

// own sets the keys of _meta, and the members that name the kind of a result, that the runtime writes itself in some revision: it drops them from
// results and params of handlers. They are the same in all wires, since what handlers write is for all revisions.
func (l *wireLowering) own() {
	l.wire.Own = "own" + l.shared.newest.Suffix
	if all := l.shared.Union; l.wire == l.shared.newest {
		l.wire.OwnNames = &model.WireGroup{Type: "Own", Values: []model.WireValue{{Field: "Meta", List: all.Meta}, {Field: "Result", List: all.ResultTypes}}}
	}
}

func (l *wireLowering) group(name string, values []model.WireValue) {
	if len(values) > 0 {
		typ := name
		if name == "Result" { // a wire.Result would be one result, not the rules for all
			typ = "ResultRules"
		}
		l.wire.Groups = append(l.wire.Groups, model.WireGroup{Field: name, Type: typ, Values: values})
	}
}

// executionMember is the member of an advertised tool that says whether it runs as a task.
const executionMember = "execution"

// errorNames are the errors whose codes and HTTP statuses the runtime takes from the wire.
func errorNames() []string {
	return []string{"promptNotFound", "resourceNotFound", "urlElicitationRequired", "methodNotFound", "missingMeta", "headerMismatch", "missingCapability", "unsupportedVersion"}
}

// standard reports whether an error has a code of JSON-RPC, the same in every revision.
func standard(name string) bool { return name == "methodNotFound" }

func (l *wireLowering) codes() []model.WireValue {
	var all []model.WireValue
	for _, name := range errorNames() {
		if code, ok := l.rev.ErrorCode(name); ok && !standard(name) {
			all = append(all, model.WireValue{Field: naming.GoName(name), Number: code})
		}
	}
	return all
}

func (l *wireLowering) metaKeys() []model.WireValue {
	var all []model.WireValue
	for _, name := range []string{"protocolVersion", "relatedTask", "serverInfo"} {
		if k := l.rev.MetaKey(name); k != nil {
			all = append(all, model.WireValue{Field: naming.GoName(name), Text: k.Key})
		}
	}
	return all
}

func (l *wireLowering) resultRules() []model.WireValue {
	t := l.rev.ResultType
	if t == nil {
		return nil
	}
	all := []model.WireValue{{Field: "Type", Text: t.Key}, {Field: "Complete", Text: t.Complete}, {Field: "InputRequired", Text: t.InputRequired},
		{Field: "Task", Text: t.Task}}
	for _, name := range []string{"cacheTTL", "cacheScope"} {
		if key := l.cacheKey(name); key != "" {
			all = append(all, model.WireValue{Field: naming.GoName(name), Text: key})
		}
	}
	return all
}

// cacheKey is the member of cacheable results for a slot: all of them have the same one as the tool list.
func (l *wireLowering) cacheKey(slot string) string {
	list, ok := l.rule("toolList")
	if !ok {
		return ""
	}
	if s := list.Slot(slot); s != nil && len(s.Path) == 1 {
		return s.Path[0]
	}
	return ""
}

// cacheable reports whether the results of m say how long they may be kept.
func (l *wireLowering) cacheable(m *revision.Method) bool {
	key := l.cacheKey("cacheTTL")
	n := definition(l.rev, m.Result)
	return key != "" && n.Get("properties").Get(key) != nil
}

func (l *wireLowering) http() []model.WireValue {
	h := l.rev.HTTP
	fields := map[string]string{
		"protocolVersion": "VersionHeader", "session": "SessionHeader", "lastEvent": "LastEventHeader", "method": "MethodHeader",
		"name": "NameHeader", "paramPrefix": "ParamPrefix",
	}
	var all []model.WireValue
	for _, header := range h.Headers {
		all = append(all, model.WireValue{Field: fields[header.Name], Text: header.Value})
	}
	if h.EncodedPrefix != "" {
		all = append(all, model.WireValue{Field: "EncodedPrefix", Text: h.EncodedPrefix}, model.WireValue{Field: "EncodedSuffix", Text: h.EncodedSuffix})
	}
	if statuses := l.statuses(); len(statuses) > 0 {
		all = append(all, model.WireValue{Field: "Statuses", Group: &model.WireGroup{Type: "Statuses", Values: statuses}})
	}
	if h.Primed {
		all = append(all, model.WireValue{Field: "Primed", On: true})
	}
	if h.Disconnect == revision.DisconnectCancels {
		all = append(all, model.WireValue{Field: "DisconnectCancels", On: true})
	}
	return all
}

func (l *wireLowering) statuses() []model.WireValue {
	var all []model.WireValue
	for _, name := range errorNames() {
		for _, s := range l.rev.HTTP.Statuses {
			if s.Error == name {
				all = append(all, model.WireValue{Field: naming.GoName(name), Number: s.Code})
			}
		}
	}
	return all
}

// header is the member of a method's params whose value is repeated in the HTTP header for names.
func (l *wireLowering) header(method string) string {
	for _, n := range l.rev.HTTP.Names {
		if n.Name == method {
			return n.Value
		}
	}
	return ""
}

// pathText is a path as written in wire.Capabilities.
func pathText(path []string) string {
	steps := make([]string, len(path))
	for i, step := range path {
		steps[i] = schema.EscapeToken(step)
	}
	return strings.Join(steps, "/")
}
