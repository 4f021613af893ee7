//go:build !mcpkiln_format_before

package task

// Format is the version of the forms in which this package has durable stores keep states and journal entries.
const Format = 2
