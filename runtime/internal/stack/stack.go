// Package stack makes room on stacks. It is for those who start a goroutine for each request or task.
package stack

// index is always 0, which the compiler does not know.
var index int

// Grow makes the stack of a new goroutine as large as a call or a short run of a task needs, while there is next to nothing on it. Growing on
// the way copies all frames two or three times: measured, that is a tenth of the time of a call. The frame of Grow has the room, which is not
// cleared, since nothing looks at it.
//
//go:noinline
func Grow() (last byte) {
	if i := index; i > 0 {
		var room [4 << 10]byte
		last = room[i]
	}
	return last
}
