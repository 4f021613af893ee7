//go:build mcpkiln_format_before

package task

// Format is the previous version. Tests build a program with it that works beside one of today.
const Format = 1
