package lower

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/generator/internal/wire"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// methods lowers each line of the manifest's `methods`: a request of the client gets a method of Handlers, a request of the
// server a function that sends it, and a method that the runtime serves by itself is enabled.
func (l *packageLowering) methods() {
	for _, m := range l.in.Manifest.Methods {
		if rule := l.ruleOf(m.Value); rule == nil {
			l.refuseUnknown(m)
		} else if !l.refuseServedTwice(m, rule) {
			l.method(m, rule)
			l.refuseIncomplete(m, rule)
			l.warnOfDeprecated(m, rule)
		}
	}
	l.customMethods()
	slices.SortFunc(l.pkg.Methods, func(a, b *model.MethodHandler) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(l.pkg.Sends, func(a, b *model.Send) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(l.pkg.NoticesSent, func(a, b *model.Notice) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(l.pkg.NoticesTaken, func(a, b *model.NoticeHandler) int { return strings.Compare(a.Name, b.Name) })
}

// ruleOf returns the rule for a method, which is what rules.yaml says of it, in the newest served revision that has it.
func (l *packageLowering) ruleOf(name string) *revision.Method { return ruleIn(l.in.Revisions, name) }

func ruleIn(revisions []*revision.Revision, name string) *revision.Method {
	for _, r := range wire.NewestFirst(revisions) {
		for _, side := range []revision.Side{revision.FromClient, revision.FromServer} {
			if m := r.Method(name, side); m != nil {
				return m
			}
		}
	}
	return nil
}

// refuseUnknown refuses a method that no served revision has, with a hint what to write instead.
func (l *packageLowering) refuseUnknown(m manifest.Text) {
	var known []string
	for _, r := range l.in.Revisions {
		for _, removed := range r.Removed {
			if removed.Name == m.Value {
				l.diags.Report(m.Node, "removed-method", removed.Instead, "revision %s has no %s any more", r.Name, m.Value)
				return
			}
		}
		for i := range r.Methods {
			if l.listable(&r.Methods[i]) {
				known = append(known, r.Methods[i].Name)
			}
		}
	}
	hint := schema.DidYouMean(m.Value, known)
	if hint == "" {
		hint = methodsOf(m.Value, known)
	}
	l.diags.Report(m.Node, "unknown-method", hint, "no revision of this manifest has a method %q", m.Value)
}

// methodsOf lists the methods of a feature, for a hint where only the feature was named; empty if there are none.
func methodsOf(feature string, known []string) string {
	var of []string
	for _, name := range known {
		if strings.HasPrefix(name, feature+"/") && !slices.Contains(of, name) {
			of = append(of, name)
		}
	}
	if len(of) == 0 {
		return ""
	}
	slices.Sort(of)
	return "write the methods one by one: " + strings.Join(of, ", ")
}

// listable reports whether the method may be listed in `methods`: one that the runtime always serves may not.
func (l *packageLowering) listable(rule *revision.Method) bool {
	return handled(rule) || sent(rule) || switches(&l.pkg.Needs)[rule.Op] != nil
}

// handled reports whether a method of Handlers answers the request.
func handled(rule *revision.Method) bool {
	return wire.IsHandled(rule.Op) && rule.Kind == revision.Request && rule.From.Includes(revision.FromClient)
}

// sent reports whether a function sends the request to clients.
func sent(rule *revision.Method) bool {
	return sends()[rule.Op] && rule.From.Includes(revision.FromServer)
}

// method lowers one line of methods.
func (l *packageLowering) method(m manifest.Text, rule *revision.Method) {
	stem := naming.GoName(strings.TrimSuffix(strings.TrimSuffix(rule.Message, "Request"), "Notification"))
	switch {
	case handled(rule):
		l.enableNotifications(rule.Capability)
		l.takeHandler(stem, named{what: "method " + rule.Name, pos: m.Node.Pos, node: m.Node, fixed: true})
		l.pkg.Methods = append(l.pkg.Methods, &model.MethodHandler{Name: rule.Name, GoName: stem, Capability: rule.Capability})
		l.recordDefinitions(rule.Name)
	case sent(rule):
		l.pkg.Sends = append(l.pkg.Sends, &model.Send{Name: rule.Name, GoName: l.types.Names.Take(stem), Var: l.types.Names.Take(naming.Unexported(stem) + "Request"), Op: naming.GoName(rule.Op), AgainDoc: l.runAgain()})
		l.recordDefinitions(rule.Name)
	case switches(&l.pkg.Needs)[rule.Op] != nil:
		*switches(&l.pkg.Needs)[rule.Op] = true
	case rule.Op == "elicitationComplete":
		l.diags.Report(m.Node, "needless-method", "write elicitation/create instead", "call.ElicitationComplete sends %s wherever handlers may send elicitation/create", m.Value)
	default:
		l.diags.Report(m.Node, "needless-method", "remove it from methods", "%s is served where it is needed, without a handler of yours", m.Value)
	}
}

// definitions has the names of the protocol's definitions of a method's params and result.
type definitions struct{ params, result string }

// recordDefinitions records the definitions of a method in the newest known revision that has the method.
func (l *packageLowering) recordDefinitions(name string) {
	rule := ruleIn(l.in.Known(), name)
	if l.definitions == nil {
		l.definitions = map[string]definitions{}
	}
	l.definitions[name] = definitions{rule.Params, rule.Result}
}

// refuseIncomplete refuses a method without the others of its capability: clients would call those and get the error method not found.
func (l *packageLowering) refuseIncomplete(m manifest.Text, rule *revision.Method) {
	feature, _, _ := strings.Cut(rule.Name, "/")
	others := []string{feature + "/list", feature + "/get", feature + "/read"}
	if other := counterparts[rule.Op]; other != "" {
		others = append(others, feature+"/"+other)
	}
	for _, other := range others {
		missing := !slices.ContainsFunc(l.in.Manifest.Methods, func(t manifest.Text) bool { return t.Value == other })
		if r := l.ruleOf(other); missing && rule.Capability != "" && handled(rule) && r != nil && handled(r) {
			l.diags.Report(m.Node, "missing-method", "add "+other, "%s declares %s to clients, which then send %s too", m.Value, feature, other)
		}
	}
}

// counterparts has for each of two operations the one that undoes it.
var counterparts = map[string]string{"subscribe": "unsubscribe", "unsubscribe": "subscribe"}

// warnOfDeprecated warns of a method whose capability a served revision deprecates.
func (l *packageLowering) warnOfDeprecated(m manifest.Text, rule *revision.Method) {
	for _, r := range l.in.Revisions {
		for i := range r.Methods {
			if d := &r.Methods[i]; d.Deprecated != "" && d.Capability == rule.Capability {
				l.diags.Warn(m.Node, "deprecated-method", d.Deprecated, "revision %s deprecates %s", r.Name, rule.Capability)
				return
			}
		}
	}
}

// enableNotifications enables the list-changed and updated notifications that belong to a capability.
func (l *packageLowering) enableNotifications(capability string) {
	switch n := &l.pkg.Needs; capability {
	case "prompts":
		n.PromptsChanged = true
	case "resources":
		n.ResourcesChanged = true
	case "resourcesSubscribe":
		n.ResourceUpdated = true
	}
}

// sends are the operations of requests to the client.
func sends() map[string]bool {
	return map[string]bool{"createMessage": true, "elicit": true, "listRoots": true}
}

// switches has, by operation, what a method enables that the runtime serves by itself. Under a revision, the log is enabled by setLevel, by log, or by
// both.
func switches(n *model.Needs) map[string]*bool {
	return map[string]*bool{
		"setLevel": &n.Logging, "log": &n.Logging, "promptsChanged": &n.PromptsChanged, "resourcesChanged": &n.ResourcesChanged,
		"resourceUpdated": &n.ResourceUpdated,
	}
}

// protocolTypes are the definitions that handlers and callers see.
func (l *packageLowering) protocolTypes() []string {
	var all []string
	if l.pkg.Needs.Results {
		all = append(all, l.in.Union.ToolResult)
	}
	for _, m := range l.protocolMethods() {
		all = append(all, l.definitions[m.Name].params, l.definitions[m.Name].result)
	}
	for _, s := range l.protocolSends() {
		all = append(all, l.definitions[s.Name].params, l.definitions[s.Name].result)
	}
	return all
}

// union merges definitions of all revisions. What nearly every package needs, the result of a tool in the built-in revisions, is embedded ready-made, so
// that no revision need be loaded.
func (l *packageLowering) union(names []string) *wire.Protocol {
	switch {
	case len(names) == 0:
		return wire.NewProtocol(nil)
	case l.in.Union == revision.Embedded() && slices.Equal(names, []string{l.in.Union.ToolResult}):
		return wire.ToolResult()
	}
	return wire.NewProtocol(l.in.Known(), names...)
}

// protocolMethods are those that handlers serve and the protocol defines.
func (l *packageLowering) protocolMethods() (some []*model.MethodHandler) {
	for _, m := range l.pkg.Methods {
		if !m.Custom {
			some = append(some, m)
		}
	}
	return some
}

// protocolSends are the requests to the client that the protocol defines.
func (l *packageLowering) protocolSends() (some []*model.Send) {
	for _, s := range l.pkg.Sends {
		if s.Extension == "" {
			some = append(some, s)
		}
	}
	return some
}

// methodTypes lowers params and results of methods. An empty result and missing params have no type. Each view gets its validator here; where
// a revision also needs an encoder of its own, the function views adds that when all types are known.
func (l *packageLowering) methodTypes() {
	l.customTypes()
	for _, m := range l.protocolMethods() {
		m.Params = l.protocolType(l.definitions[m.Name].params, model.Decode)
		m.Result = l.protocolType(l.definitions[m.Name].result, model.Encode)
		m.Views = l.sentChecks.Views(wire.SentResult(m.Name))
	}
	for _, s := range l.protocolSends() {
		s.Params = l.protocolType(l.definitions[s.Name].params, model.Encode)
		s.Result = l.protocolType(l.definitions[s.Name].result, model.Decode)
		s.Views = l.sentChecks.Views(wire.SentParams(s.Name))
	}
	l.later = append(l.later, l.views)
}

func (l *packageLowering) protocolType(name string, use model.Use) model.TypeRef {
	n := l.protocol.Node(name)
	if n == nil || l.protocol.Empty(n) {
		return model.TypeRef{}
	}
	return l.types.Lower(typing.Root{Document: l.protocol.Doc, Node: n, Name: naming.GoName(name), Keep: true, Use: use, Sent: use == model.Encode})
}

// views makes the encoders for revisions in which a result or params differ from the handlers' types.
func (l *packageLowering) views() {
	viewers := wire.NewViewers(l.types, l.protocol, l.pkg.Wires)
	for _, m := range l.protocolMethods() {
		m.Views = viewers.Settle(m.Views, m.Result)
	}
	for _, s := range l.protocolSends() {
		s.Views = viewers.Settle(s.Views, s.Params)
	}
	for _, w := range l.pkg.Wires {
		if l.pkg.Result != nil {
			w.AppendResult = viewers.Append(w.Revision, l.pkg.Result.Decl)
		}
		l.pkg.Views = append(l.pkg.Views, viewers[w.Revision].Out...)
	}
}

// sentBy lists the definitions of what handlers return and send in r.
func (l *packageLowering) sentBy(r *revision.Revision) []string {
	var all []string
	if l.pkg.Needs.Results {
		all = append(all, wire.SentCall(r))
	}
	for _, m := range l.protocolMethods() {
		all = append(all, wire.SentResult(m.Name)(r))
	}
	for _, m := range l.protocolSends() {
		all = append(all, wire.SentParams(m.Name)(r))
	}
	return all
}
