// Package vet finds the mistakes in handlers that only mcpkiln knows to be mistakes. Its readers are those who run mcpkiln vet, go vet
// -vettool or golangci-lint over a server's code, and who add a check here.
//
// What everybody's linters find (a context that is not handed on, a lost cancel function) is left to them. Each check is a
// go/analysis analyzer in a file of its own, with a fixture of what it reports and what it must not in testdata. All look at the same
// functions, which handlers.go finds: the methods of types that implement a generated Handlers, and the functions of the same package
// that they call. Its flag types adds functions that take a parameter of other types, for servers on other libraries.
//
// The checks judge what is written in one function, in the order of the text: they follow no values from function to function. What
// they report is worth reading; what they do not report proves nothing.
package vet

import "golang.org/x/tools/go/analysis"

// Analyzers are all checks, in the order of their names, and the finder of handlers, which has their one flag.
var Analyzers = []*analysis.Analyzer{
	BlindLoop, Blocking, CallEscape, DeadCleanup, DeclinedValue, DoClosure, EarlyEffect, HiddenCancel, QuestionName, StrayHandler, Unbounded,
	Handlers,
}
