// Package task runs work that outlives the request that asked for it. It is for those who write a store (Store, State, and package tasktest), and
// for those who change how tasks run; handlers need only its errors. Ids such as DUR02 are rules; testdata/traceability/ledger.tsv lists them.
//
//	task.go, status.go     what a task is, and the statuses it can have
//	machine.go             Machine: which status may follow which, as the protocol revisions declare it
//	state.go, state_journal.go
//	                       State: all transitions, as pure functions that every store calls
//	store.go, quota.go, errors.go
//	                       Store: where tasks are kept; leases, quotas, journal entries
//	form.go, form_now.go   how durable stores keep states and entries, by version; form_before.go: the version before, for tests
//	memory*.go, cursor.go  Memory: the store in this process
//	engine.go, create.go, request.go, close.go
//	                       Engine: what a server calls
//	run.go, run_journal.go Run: what a handler calls; execute.go is the life of a run; park.go: how it ends while it waits for an answer
//	upkeep.go, timers.go   expiry (sweeps) and orphans, behind one timer; others.go: orphans that only others can run
//	lease.go, interrupt.go heartbeats, fences, and how a run learns that it should stop
//	outage.go              waiting for a store that is away
//	operators.go           what those who run the server may see
//	audit.go, limits.go, slots.go, events.go
//	                       audit records, limits, and the order of reported changes
//	tasktest               the contract of Store as tests
//
// # Words of this package
//
//	over            of a task: its status is terminal, so it does not change any more
//	run             one execution of a task's handler; a task may have several, one after the other
//	step            what Run.Do does once, under a name
//	runner          Config.Runner, which calls the handler
//	lease, epoch    the right to run a task, which ends unless a heartbeat (beat) extends it; the number of the run, 1 for the first
//	fence           the moment at which a run stops itself because its lease may be over, and another run may have begun
//	park            to end a run so that another one can go on with the task, and to give its lease back
//	replay          a run after an answer, or in tests after a step; a rerun is one after a crash
//	wake timer      has the engine look for orphans at the earliest deadline of a parked task's questions
//	orphan          an unfinished task that has no run and waits for one; to adopt it is to begin a run of it
//	journal, entry  what a run has asked and done under names, kept in the store so that the next run gets it
//	open, closed    a question that waits for an answer; one that is answered, withdrawn, or past its deadline (Unanswered)
//	outage          an error that is not the store's answer: the call is tried again within a retryLimit
//	hint            a signal that something may have changed: its receiver reads again
//	owner           the identity that a task belongs to; the requestor is the one whose limits it counts in, and account the name of its counters in the store
//	sweep           a look for expired tasks, which removes them
//	slot            a place among the tasks that the engine's limits let it hold at once
//	reruns          how many further runs a task may have after crashes
//
// # Who decides what
//
// The Store decides: each transition is one compare-and-set, and the second of two callers gets an error
// and changes nothing. A State's methods are all transitions that exist, so a durable store is a place to keep States,
// not another machine. Runners write under a lease (task, node, epoch): each Begin makes the epoch grow, and a process
// that wakes up late with an old one gets ErrLease.
//
// The Machine decides which edges there are: the server makes it from what the revisions declare, and each task keeps it for
// life. Revisions differ in what a transition means, never in which exist. The caller decides the meaning: Outcome.Status is what a result
// with isError becomes (failed in 2025-11-25, completed in 2026-07-28), and Cancel.Force is whether a cancel ends the task or asks its handler
// to stop.
//
// The Dispatcher gets ids of tasks to run. It may lose them or deliver them twice: Begin refuses the second delivery, and Orphans finds the tasks
// whose ids were lost. The Engine holds what dies with the process: contexts, the timer, waiters.
//
// # How a run ends
//
// The context of a run derives from no request (TSK06). It ends with an *inflight.Cause, and once it has, the cause
// decides and the handler's result is discarded:
//
//	peer                    tasks/cancel: cancelled; forced at once, else when the handler returns
//	timeout                 Config.TimedOut says how, at once, even if the handler does not listen
//	timeout, ErrExpired     the ttl passed, the task is gone (TSK15)
//	shutdown                parked for another run if the store is durable and the task may run again, else failed: the task would be lost with the process
//	parent, ErrParked       a question was open for long: parked, to begin again with an answer or at a question's deadline
//	parent, ErrLease        another process runs the task now, or may soon
//	disconnect, ErrDiscarded  nobody can ask for the task any more: it is gone
//	completed               the run has ended: what its handler left running ends with this
//
// A task's timeout counts the time in which it has a lease and no question is open, over all runs: the store's clock counts it in the state (State.Since), the
// engine's timer ends the run. Its ttl runs from creation, also while the task is parked.
//
// # Running again
//
// After a crash or a deploy the handler runs again from the top. Run.Do and Run.Ask are journaled by name and return at
// once what they returned before, declined or late questions included. A name means the same step or question for the life of the task,
// which also makes it the input key of 2026-07-28 (EXT09).
//
// A run that ended without giving its lease back counts as a crash. After more than Task.Reruns crashes the task fails instead of beginning
// again, so that a task that kills its process does not do so for ever.
//
// A task whose Reruns are 0 runs once: it keeps its run while a question is open, and at a shutdown it is ended last, when Config.Grace is over.
//
// A run is not parked once its handler was given an answer while another question was open: what it does with that answer, outside of steps, would be
// cut short and wait for an answer that it does not need.
//
// A parked task has no run: the engine that stores an answer dispatches the task, and so does the run that is ending if the answer was faster. If both do,
// Begin lets only one run begin. If neither can, the task is an orphan.
//
// A cancel ends a task that has no run, or whose lease has run out, at once. If a run has the lease, it is recorded for that run, which may not hear it:
// if the run parks, Park ends the task, and if its process dies, the task is an orphan when its lease is over, whatever its questions.
//
// # When the store is away
//
// The engine trusts no store to be there. An error that is not the store's answer (see Outage) is an outage, and says nothing about the
// task: only ErrNotFound is expiry. What a run writes is tried again, with growing pauses, until its lease is about to end; its outcome is tried again
// for as long as the engine lives, so that nothing that finished runs again because of an outage (DUR06). ErrLost is no outage: nothing is tried again,
// runs end with their leases, and the store wakes those who wait for a task (TSK09). A try that failed may have been carried out: what
// the store says to the next one is read accordingly. Only a refusal of Begin does not say whose lease is in the way: if it is that of an earlier try
// which seemed to fail, the task waits until that lease is over, and it counts as a crash.
//
// A run whose heartbeats do not arrive stops itself when nine tenths of its lease have passed by this process's monotonic clock, counted from
// before the call that granted the lease. By the store's clock the lease began later, so nobody else runs the task by then (DUR02).
//
// # Order of messages
//
// Create stores the task, Start or Run begins it. The server writes CreateTaskResult in between; no change and no question of the task is
// reported before the task begins (TSK04). Waiters wake under the lock that made the transition. Watch returns, in one step, the
// snapshot and the channel that its next change closes, so no change is missed.
//
// # What tasks cost
//
// The store counts what it keeps (State.Size), by requestor and in all, and refuses what goes beyond: a task that is created, a
// step, a question or an answer that is journaled, a result, whose task fails then and says why. Dropping an older result to make
// room would break the ttl that its client was told. The engine counts what runs: a slot is taken at Create and free when the
// handler has returned, since cancelling a task does not stop a handler that ignores its context (TSK28). The tasks of an owner that no
// longer exists, such as an anonymous session that ended, are discarded and their work is stopped.
//
// # Rejected
//
//   - One state machine per revision: a task can be read in every revision, so they would have to agree anyway.
//   - A goroutine or timer per ttl: 100,000 tasks would be 100,000 of them. Records are in a heap per shard, and
//     the engine's timer waits for the earliest.
//   - Waiters registered one by one: they have to be removed again, and what is forgotten leaks. One channel per task,
//     made by the first watcher and closed by the next change, has nothing to remove.
//   - Immutable snapshots behind atomic pointers: each transition would allocate a task, to save a copy of some 300 bytes
//     under a lock that is hardly ever contended.
//   - Cursors by offset or by time: neither is stable. A place in the owner's list, authenticated together with the owner,
//     is, and it stays valid when the task that it points to is gone.
//   - Failing expired lookups differently from unknown ones: it tells strangers which ids exist. NotFoundError carries the
//     reason for the audit log and hides it from its text.
//   - Counting the running time of a crashed run up to the end of its lease: it died at some moment before, and with short timeouts and long
//     leases no rerun would have time. What is not known is not counted; the reruns bound it.
//   - Parking a run as soon as all its goroutines wait: nothing shows that a handler's goroutines all wait.
//   - Interrupting a handler that ignores its context: Go has no way. Its task ends without it, and Close says how many
//     such handlers are left.
package task
