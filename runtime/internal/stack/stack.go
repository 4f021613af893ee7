// Package stack makes room on stacks. It is for those who start a goroutine for each request or task.
package stack

// Grow makes the stack of a new goroutine as large as a call or a short run of a task needs, while there is next to nothing on it. Growing on
// the way copies all frames two or three times: measured, that is a tenth of the time of a call. i is not negative, which the compiler must not
// know: its frame has the room then, and it is not cleared.
//
//go:noinline
func Grow(i int) (last byte) {
	if i < 0 {
		var room [4 << 10]byte
		last = room[-i]
	}
	return last
}
