// Package uritemplate reads the URI templates of RFC 6570 that servers need, in both directions: Expand makes a URI of values, Match finds
// the values of a URI. It is for those who change which templates of resources are served; who writes one needs the table below.
//
// The RFC describes expansion alone, and most of its templates can not be matched: {a}{b} has as many readings as its text has letters. Parse
// takes those that can:
//
//	{var}     a value without the characters that a URI reserves: those, / among them, are percent-encoded
//	{+path}   a value with them, once in a template and after all others
//	{?a,b*}   a query at the end, of which each variable may be absent; one with * is a list, which repeats its name
//
// and refuses the rest by name, with what to write instead. For every template that Parse takes, the values of Expand's URI are those it was
// given, unless one is empty, or that of {+path} has a question mark where a query follows.
//
// Overlap reports whether two templates match one URI, and names one. Its readers are the generator, which refuses such templates where they
// are written, and the server, for those that are added while it runs.
package uritemplate
