package tasktest

import "github.com/mcpkiln/mcpkiln/runtime/task"

// AlwaysReplay returns a store for the tests of handlers: hand it to server.WithTaskStore. The handler of a task then runs again wherever a crash,
// a deploy or a long wait for an answer could make it: it is ended after each step that was done, and at each question, and begins again from the
// top. Its effects outside of steps happen again, and other values from outside may have changed, so a test sees both. Tasks are in memory.
//
// A handler that gets no further, since the names of its steps or questions are others in every run, fails its task in the end.
//
// Handlers that may not run again (onCrash: fail) or can not be cancelled run once, as they always do.
func AlwaysReplay() task.Store { return replaying{task.NewMemory()} }

type replaying struct{ *task.Memory }

// Durable implements task.Store: what is not durable is never run again.
func (replaying) Durable() bool { return true }

// Replays implements task.Replayer.
func (replaying) Replays() bool { return true }
