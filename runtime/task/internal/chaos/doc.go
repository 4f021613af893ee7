// Package chaos breaks processes that share a store of tasks, and checks that nothing that was acknowledged is lost.
// It is for the tests of stores.
//
//	point.go    where a replica kills itself: before or after the nth call of a kind
//	replica.go  what a replica does: it runs tasks, creates them, and answers what they ask
//	process.go  replicas in processes of their own, started and killed by a test
//	plan.go     a series of kills, one at each point
//	storm.go    kills at any moment, while the database stops as well
//	clock.go    a replica whose clock is wrong
//	expiry.go   many tasks that expire at once
//	figure.go   figures of time, which are printed, and held to where they are asked for
//	history.go  what they said, and the model that it is checked against
//
// A replica says what it was told is done, one line each, and a kill takes no line back. When the replicas are gone, a last worker finishes what is left,
// and the model compares: every task that was acknowledged is there and over, its step and its answer are those that were said, its question was asked
// once, and it was finished once.
package chaos
