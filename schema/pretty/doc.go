// Package pretty writes JSON values as YAML for people: block style, short values on one line, long texts folded, comments above their
// values. Package schema reads its output as the same value: a text that YAML could take for something else is quoted.
// It is for those who change how the command writes manifests.
//
//	pretty.go  values: blocks, lists, and values on one line
//	text.go    texts: plain, quoted, folded or literal
//
// # Rejected
//
// The encoder of the YAML library: it folds no texts, has one style for all of a file, and puts short values on lines of their own.
package pretty
