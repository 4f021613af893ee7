package model

import "time"

// Prompt is one prompt of the registry.
type Prompt struct {
	Name       string
	Definition string     // the advertised JSON object, compact
	Input      TypeRef    // the type of its arguments; without a name it has none
	Arguments  []Argument // those that clients can complete
	Sensitive  []string   // arguments whose values are not shown
	Handler    *EntryHandler
}

// Argument is an argument of a prompt, or a variable of a resource template, that clients can complete: from Values, or by the method Complete of
// Handlers.
type Argument struct {
	Name     string
	Values   []string
	Complete *EntryHandler
}

// Resource is one resource of the registry, or a template for many, which has an Input.
type Resource struct {
	Name       string
	URI        string // or URI template
	Definition string
	MIMEType   string
	Subscribe  bool
	Input      TypeRef  // of the variables
	Raw        []string // variables whose text is JSON
	Arguments  []Argument
	Handler    *EntryHandler
}

// EntryHandler is a method of Handlers for an entry of a registry.
type EntryHandler struct {
	Entry  string // for people: prompt review_code
	GoName string
	Doc    []string
	// Input is the type of the parameter in, without the *; empty: the method has no such parameter. Output is the type of the result, also without
	// the *. A type of package server is written with its package.
	Input, Output string
	Timeout       time.Duration // of one request; 0: none
	Asker
	Policy []string // what Timeout and Asker mean, in sentences
}
