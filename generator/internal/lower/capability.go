package lower

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// clientCapabilities lowers the client capabilities that the requests of a handler need, as the manifest lists them. If it listed requests instead, too
// much would be required: which capabilities a request needs depends on its params. Sampling without tools needs less than sampling with tools.
func (l *packageLowering) clientCapabilities(a *model.Asker, listed []manifest.Text) {
	known := l.pkg.TakenBySends()
	for _, t := range listed {
		if !slices.Contains(known, t.Value) {
			l.diags.Report(t.Node, "client-capability", l.capabilityHint(t.Value, known), "no request that handlers may make takes %.140q of the client", t.Value)
		}
		a.ClientCapabilities = append(a.ClientCapabilities, t.Value)
	}
}

// capabilityHint says what to write in place of a capability that no request needs.
func (l *packageLowering) capabilityHint(name string, known []string) string {
	for _, s := range l.pkg.Sends {
		if taken := l.pkg.TakenBy(s); s.Name == name && taken != nil {
			return "write " + taken[0] + ", which " + name + " takes"
		}
	}
	if method := l.unlistedRequest(name); method != "" {
		return "list " + method + " in methods, at the top of the manifest"
	}
	if known == nil {
		return cmp.Or(schema.DidYouMean(name, l.everyCapability()), "list the requests that the handler makes in methods, at the top of the manifest, or in customMethods")
	}
	return cmp.Or(schema.DidYouMean(name, known), "it is one of "+strings.Join(known, ", "))
}

// requestsWithCapability are the requests to the client that need a capability, with its path in the client's declaration, in all served revisions.
func (l *packageLowering) requestsWithCapability() iter.Seq2[*revision.Method, string] {
	return func(yield func(*revision.Method, string) bool) {
		for _, r := range l.in.Revisions {
			for i := range r.Methods {
				m := &r.Methods[i]
				if slot := r.Client.Slot(m.Capability); sent(m) && slot != nil && !yield(m, strings.Join(slot.Path, "/")) {
					return
				}
			}
		}
	}
}

// everyCapability lists the protocol's capabilities that some request to the client needs.
func (l *packageLowering) everyCapability() (all []string) {
	for _, capability := range l.requestsWithCapability() {
		all = append(all, capability)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// unlistedRequest is a request to the client that needs the capability and is not listed in methods; "" for none.
func (l *packageLowering) unlistedRequest(name string) string {
	for m, base := range l.requestsWithCapability() {
		listed := slices.ContainsFunc(l.pkg.Sends, func(s *model.Send) bool { return s.Name == m.Name })
		if !listed && (name == base || name == m.Name || strings.HasPrefix(name, base+"/")) {
			return m.Name
		}
	}
	return ""
}

// requestSentences say which client capabilities the requests of a handler need, and what that means for an inline call of a client without them (LET20).
func (l *packageLowering) requestSentences(a *model.Asker, inline bool) []string {
	if a.ClientCapabilities == nil {
		return nil
	}
	out := []string{"It asks the client for " + strings.Join(a.ClientCapabilities, ", ") + "."}
	if names := l.statelessRevisions(); inline && names != nil {
		out = append(out, "Over HTTP under "+strings.Join(names, ", ")+", progress and logs come with the answer if the client lacks any of these.")
	}
	return out
}

// statelessRevisions are the names of the served revisions that have no sessions.
func (l *packageLowering) statelessRevisions() (names []string) {
	for _, r := range l.in.Revisions {
		if r.Era == revision.Stateless {
			names = append(names, r.Name)
		}
	}
	return names
}
