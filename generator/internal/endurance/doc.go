// Package endurance has the tests that run the command as a repository with history does: killed, twice at once, on branches that are
// merged. They run a few times with all tests, and as often as flags say with make endurance. It is for those who
// change how files are written.
package endurance
