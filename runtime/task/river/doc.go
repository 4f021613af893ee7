// Package river has tasks run by the workers of River (github.com/riverqueue/river), for those who run River already: its queues limit how many tasks
// a process runs, its UI shows them among the other jobs. Tasks are kept by package postgres, in the same database.
//
//	jobs := taskriver.New(taskriver.Options{Queue: "tasks"})
//	store, err := postgres.Open(ctx, url, postgres.Options{Created: jobs.Created})
//	workers := river.NewWorkers()
//	river.AddWorker(workers, jobs.Worker())
//	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
//		Queues: map[string]river.QueueConfig{"tasks": {MaxWorkers: 100}}, Workers: workers,
//	})
//	jobs.Use(client, store)
//	srv, err := reports.New(&handlers{}, server.WithTaskStore(store), server.WithTaskDispatcher(jobs))
//	err = client.Start(ctx)
//
// End in this order: the server (Shutdown parks what runs), the client, the store.
//
//	dispatcher.go  Dispatcher: tasks become jobs
//	job.go         the jobs, and the worker that runs them
//
// # Who decides what
//
// The row of a task is the truth, a job is a hint that it should run. A job has the id of its task and which of its runs it is meant to begin, nothing
// else. The first one is inserted in the transaction that creates the task; answers, deploys and crashes lead to another job, which the process that notices them
// inserts. River may lose a job, deliver it twice or late: Begin of the store refuses the second one, and Orphans finds tasks whose job was lost, once the task's
// lease is over. A cancel goes to the row, and so does an answer; a job whose task has nothing to run any more ends at once.
//
// A job ends when the run does: a task that is parked has no job. Engines look for orphans again and again while a queue is long, so a job is unique by its
// arguments for as long as it waits. One that is being worked at and has not begun its task may have come too early, or is a dead process's: another
// one is inserted in its place, and finds nothing to do if that was wrong.
//
// # What River does by itself
//
// A worker whose engine can not reach the store fails, and River tries its job again. Jobs of processes that died are rescued after
// rescueAfter, and find nothing to do. A job that is cancelled while it runs cancels its task, as a client would that asks it to stop. One that
// is cancelled or deleted while it waits is only late: the task was accepted, and runs when an engine finds it.
//
// # Rejected
//
//   - A job for the whole life of a task, snoozed while that is parked: each answer would have to find and wake it, in River's tables.
//   - Jobs that are unique by the task alone: one that is ending would swallow the next one.
//   - Inserting the first job at Start: a process that dies before has accepted a task that waits for a lease to end.
package river
