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
//	figure.go   measured times, which are logged, and checked with -figures
//	history.go  what replicas reported, and the model that it is checked against
//
// A replica reports each call that the store acknowledged in a line of its output, which a kill does not take back. When the replicas are gone, a
// last worker finishes what is left, and the model compares: every task that was acknowledged is there and over, its step and its answer are those
// that were reported, its question was asked once, and it was finished once.
package chaos
