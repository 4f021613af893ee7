// Package vet finds the mistakes in handlers that only mcpkiln knows to be mistakes. Its readers are those who run mcpkiln vet, go vet
// -vettool or golangci-lint over a server's code, and who add a check here.
//
// What common linters find (a context that is not passed on, a lost cancel function) is left to them. Each check is a go/analysis
// analyzer in a file of its own, with a fixture in testdata of what it reports and what it must not. All check the same functions,
// which handlers.go finds: the methods of types that implement a generated Handlers, and the functions of the same package that they
// call. Its flag types adds functions with a parameter of other types, for servers that use other libraries.
//
// The checks analyze one function at a time, in source order: they follow no values from function to function. A finding may be false,
// and without a finding a mistake may still be there.
//
// # Words of this package
//
//	handler   a method that answers for a tool, prompt, resource or other request; also a function that the flag types selects
//	call      as a parameter of a handler: the request that it answers, a *server.Call or a type that embeds one
//	question  a function call that asks the user and returns a server.Answer
//	step      the function that is passed to Do: its outcome is recorded, and not computed again when the handler runs again
//	effect    a change outside of the program, such as a file that is written
//	wait      a channel operation, or a select, that no context ends
package vet

import "golang.org/x/tools/go/analysis"

// Analyzers are all checks, sorted by name, and the finder of handlers, which has their only flag.
var Analyzers = []*analysis.Analyzer{
	BlindLoop, Blocking, CallEscape, DeadCleanup, DeclinedValue, DoClosure, EarlyEffect, HiddenCancel, QuestionName, StrayHandler, Unbounded,
	Handlers,
}
