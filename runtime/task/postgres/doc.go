// Package postgres keeps tasks in a Postgres database, for any number of replicas of a server: what was acknowledged survives a crash, and another
// replica goes on where one has died. It is for programs that run as several processes, and for those who change how that is done.
//
//	store, err := postgres.Open(ctx, "postgres://reports@db/reports", postgres.Options{})
//	srv, err := reports.New(&handlers{}, server.WithTaskStore(store))
//
//	open.go, dial.go, failure.go
//	                         opening a database: waiting for it, its errors
//	schema.go                tables and their migrations
//	writer.go, batch.go      calls that come at the same time share a transaction
//	reader.go                calls that only read a task share an exchange
//	statement.go, record.go  what is read and written of tasks
//	usage.go                 what quotas count
//	holder.go                leases, and the rows (holders) that extend them
//	follow.go, notify.go     followers: who watches or runs a task; notifications between processes
//	requestor.go, runner.go, operator.go, expiry.go
//	                         the methods of task.Store
//
// # Compare and set
//
// A call reads its task, changes it in memory by a method of task.State, and writes it in one statement, on the condition that no other call has
// written since (mcpkiln_tasks.rev); otherwise it is made again. No transaction waits for this process in between, so one that is stopped or cut off
// holds no lock. Calls that come while others are being written share the next transaction, and so the syncing of the disk. The clock
// is the server's, as the exchange that read the task returned it. With Options.Created, creations have transactions of their own.
//
// # Leases
//
// Begin writes a lease into the task's row. A heartbeat writes one row whatever the number of tasks (mcpkiln_holders): tasks name that row, from
// their first heartbeat on. See holders.
//
// # Other processes
//
// Each store listens for notifications. A cancel sends one in its own transaction; other changes are collected for 5 ms. A notification is a hint and may be
// lost: twice a second the store asks for the versions of the tasks that are watched or run here, and for parked tasks that wait for a run.
//
// # Quotas
//
// Usage is a sum of changes that are only appended, so that creators never wait for each other. Each writer sees what has been committed. Replicas that
// create tasks in the same moment can together exceed a quota by what each of them creates in one transaction.
//
// # Rejected
//
//   - Locking rows while a process decides (SELECT … FOR UPDATE, then UPDATE): a process that is stopped in between would stop all others.
//   - Transitions in SQL: they would be a second copy of the state machine.
//   - A counter per account, and one for everybody: each creation would wait for the commit of the one before.
//   - An advisory lock per task as its lease: it ends with the connection, and a pooler gives connections to others.
//   - jsonb for arguments and results: it changes numbers and the order of keys, and refuses some strings. They are bytes.
package postgres
