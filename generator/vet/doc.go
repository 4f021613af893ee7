// Package vet finds the mistakes in handlers that only mcpkiln knows to be mistakes. Its readers are those who run mcpkiln vet, go vet
// -vettool or golangci-lint over a server's code, and who add a check here.
//
// What common linters find (a context that is not passed on, a lost cancel function) is left to them. Each check is a go/analysis
// analyzer in a file of its own, with a fixture in testdata of what it reports and what it must not. All check the same functions,
// which handlers.go finds: the methods of types that implement a generated Handlers, and the functions of the same package that they
// call. Its flag types adds functions with a parameter of other types, for servers that use other libraries.
//
// The checks analyze one function at a time, in source order: they follow no values from function to function. A finding may be false,
// and no finding proves nothing.
package vet

import "golang.org/x/tools/go/analysis"

// Analyzers are all checks, sorted by name, and the finder of handlers, which has their only flag.
var Analyzers = []*analysis.Analyzer{
	BlindLoop, Blocking, CallEscape, DeadCleanup, DeclinedValue, DoClosure, EarlyEffect, HiddenCancel, QuestionName, StrayHandler, Unbounded,
	Handlers,
}
