// Package gather is for those stores that make the calls of many goroutines together.
package gather

// All returns first, and what else has come, at most n in all. It waits for nothing.
func All[T any](first T, from <-chan T, n int) []T {
	all := []T{first}
	for len(all) < n {
		select {
		case next := <-from:
			all = append(all, next)
		default:
			return all
		}
	}
	return all
}
