// Package pretty writes JSON values as YAML for people: block style, what is short on one line, long texts folded, comments where they
// belong. What it writes, package schema reads as the same value: a text that YAML could take for something else stands in quotes.
// It is for those who change how the command writes manifests.
//
//	pretty.go  values: blocks, lists, and what fits on one line
//	text.go    texts: plain, quoted, folded or literal
//
// # Rejected
//
// The encoder of the YAML library: it folds no texts, has one style for all of a file, and puts short values on lines of their own.
package pretty
