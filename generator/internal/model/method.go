package model

// MethodHandler is a request of the client, other than a tool's, that has a method of Handlers.
type MethodHandler struct {
	Name       string // prompts/get
	GoName     string // GetPrompt
	Capability string // slot of what is declared when it is served
	// Params and Result are without a name where there is nothing to say: such a method takes no params, or answers that it
	// is done.
	Params, Result TypeRef
	Views          []View // of the result
}

// Send is a request of the server with a function that sends it and waits for the answer.
type Send struct {
	Name           string // sampling/createMessage
	GoName         string // CreateMessage
	Var            string // createMessageRequest
	Op             string // CreateMessage: the operation of package server, without Op
	Again          string // what asking means for a call that is run again; empty if none is
	Params, Result TypeRef
	Views          []View // of the params
}

// View is how a revision has a message: the encoder, which leaves out what the revision lacks, and the validator of what was
// written. The first one of a message is for all revisions without one of their own.
type View struct {
	Revision, Append string
	Check            *Decl // nil: nothing in it can be wrong
}
