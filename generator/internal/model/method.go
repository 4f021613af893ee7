package model

import "slices"

// MethodHandler is a request of the client, other than a tool's, that has a method of Handlers.
type MethodHandler struct {
	Name       string // prompts/get
	GoName     string // GetPrompt
	Capability string // the server capability that goes with it, by its name in rules.yaml of a revision
	// Params and Result without a name mean that a method takes no params, or that its result is empty.
	Params, Result TypeRef
	Views          []View   // of the result
	Custom         bool     // no revision has the method: the manifest defines its params and result
	Hidden         string   // of a custom method: the x-sensitive properties, for check.Hiding; "" for none
	Doc            []string // of a custom method, in lines
}

// NoticeHandler is a custom notification that clients send: a method of Handlers receives it.
type NoticeHandler struct {
	Name   string // notifications/reports/seen
	GoName string // ReportsSeen
	Doc    []string
	Params TypeRef
	Hidden string // as of MethodHandler
}

// Notice is a custom notification that the server sends, with a function that does so.
type Notice struct {
	Name   string // reports/changed
	GoName string // NotifyReportsChanged
	Var    string // reportsChangedNotification
	Doc    []string
	Params TypeRef
	Hidden string // as of MethodHandler
}

// Send is a request of the server with a function that sends it and waits for the answer.
type Send struct {
	Name           string // sampling/createMessage
	GoName         string // CreateMessage
	Var            string // createMessageRequest
	Op             string // CreateMessage: the constant of package runtime/wire for the operation, without its prefix Op
	Extension      string // of a custom request: the extension that the client must declare; empty for requests of the protocol
	Hidden         string // as of MethodHandler
	Doc            []string
	AgainDoc       string // what sending it means for a handler that runs again to get the answer; empty if no served revision does that
	Params, Result TypeRef
	Views          []View // of the params
}

// TakenBySends are the client capabilities that the requests of Sends need in some revision, sorted: an extension by its name, others by their path in
// the client's declaration.
func (p *Package) TakenBySends() (all []string) {
	for _, s := range p.Sends {
		all = append(all, p.TakenBy(s)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TakenBy are the client capabilities that the request s needs, in the order of the revisions.
func (p *Package) TakenBy(s *Send) (all []string) {
	if s.Extension != "" {
		return []string{s.Extension}
	}
	for _, w := range p.Wires {
		for _, o := range w.Outgoing {
			if o.Name != s.Name {
				continue
			}
			all = append(all, o.Capability)
			for _, n := range o.Needs {
				all = append(all, n.Capability)
			}
		}
	}
	return slices.DeleteFunc(all, func(name string) bool { return name == "" })
}

// View is how a message is written in a revision: the encoder, which leaves out what the revision lacks, and the validator of the
// encoded text. The first view of a message is for all revisions without their own.
type View struct {
	Revision, Append string
	Check            *Decl // nil: every value is valid
}
