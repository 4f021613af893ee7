// Package lazyregexp compiles regular expressions when they are first needed. Compiled at the start, those of this module would take a program
// milliseconds and a megabyte, of which most runs need none. It is for those who write a package of this module.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the regular expression, which is compiled once, by the first call. That call
// panics if source is no regular expression; a test compiles the sources of this module.
func New(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}
