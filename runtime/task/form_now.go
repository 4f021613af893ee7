//go:build !mcpkiln_format_before

package task

// Format is the newest format of states and journal entries that this package reads; form.go says which one it writes.
const Format = 2
