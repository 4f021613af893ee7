// Package endurance has the tests of what happens to generated files in a long-lived repository: runs that are killed, two runs at once, branches
// that are merged. go test runs each a few times, make endurance as often as its flags say. It is for those who
// change how files are written.
package endurance
