//go:build mcpkiln_format_before

package task

// Format is that of the version before. Tests build a program with it that runs beside one of today.
const Format = 1
