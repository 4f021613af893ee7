// Package sqlite keeps tasks in an SQLite file: what was acknowledged survives a crash, and the next process goes on where the last one died.
// It works with any driver of database/sql; the program imports one. It is for programs that keep their
// tasks in a file (README.md has more), and for those who change how that is done.
//
//	db, err := sql.Open("sqlite", "tasks.db") // modernc.org/sqlite, for example
//	store, err := sqlite.Open(ctx, db)
//	srv, err := reports.New(&handlers{}, server.WithTaskStore(store))
//
//	open.go, owner.go   opening a file: its errors, its owner
//	links_*.go          how many names a file has
//	conn.go             a connection and its statements
//	schema.go           tables and their migrations
//	writer.go, batch.go one goroutine writes, and many callers share one commit
//	record.go           a task in the file and in memory
//	requestor.go, runner.go, orphan.go, operator.go, expiry.go
//	                    the methods of task.Store
//	account.go          what quotas count
//
// # Durability
//
// The file is in WAL mode with synchronous FULL. A call returns after the commit that holds its change has been synced. Calls that arrive while
// a commit is being synced share the next one, so many callers cost few syncs. If a commit fails, its calls are made again one by one,
// so that one that fails, on a full disk for example, does not make others fail.
//
// # One process
//
// A file has one owner at a time. The owner holds a lock on a second file, FILE-owner, until it closes the store or dies; another process gets
// ErrOwned. So leases are not written: they are in memory, and when a process opens a file, all leases in it are those of a process that is
// dead. Its tasks begin again at once. Other programs may read the file meanwhile, for a backup for example. A file that has a second name, by a hard
// link or because it is mounted without its folder, is refused: the owner's file and the write-ahead log are beside each name.
//
// # The clock
//
// The store's clock is that of the process when the store was opened, plus the monotonic time since then: a wall clock that is set forward or back ends
// no lease and no task early.
//
// # Rejected
//
//   - Several processes on one file, with leases in it: each heartbeat would be a commit, a restart would wait for the leases of the process that
//     it replaces, and two processes on one machine are no better than one. A shared database is for several machines.
//   - A lock that is tied to the file whatever its name, such as flock: what a crash leaves in the log would still be missing under the
//     other name. And flock is in the way of SQLite's own locks on BSD and macOS, and over NFS.
//   - Locking the file itself (locking_mode=EXCLUSIVE): reads would wait for syncs, and no other program could look into the file.
package sqlite
