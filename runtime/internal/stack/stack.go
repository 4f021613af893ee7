// Package stack makes room on stacks. It is for those who start a goroutine for each request or task.
package stack

// Grow makes the stack of a new goroutine as large as a call or a short run of a task needs, while there is next to nothing on it. Growing on
// the way copies all frames two or three times: measured, that is a tenth of the time of a call. i is 0 or 1 and has to be a value that the
// compiler does not know: it must not see through this.
//
//go:noinline
func Grow(i int) byte {
	var room [4 << 10]byte
	return room[i]
}
