//go:build mcpkiln_format_before

package task

// Format is the version before. Tests build a program with it, to work beside one of today.
const Format = 1
