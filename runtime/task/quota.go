package task

// Quota bounds what one requestor may have. A field that is zero is no bound.
type Quota struct {
	// Key names the requestor; "" stands for the owner. It distinguishes requestors that share an owner, for the quota alone.
	Key string
	// Running counts tasks that are not over, Kept all that have not expired.
	Running, Kept int
	// Bytes bounds the sum of State.Size over the requestor's tasks, AllBytes over everybody's. They also bound how tasks
	// grow: what would exceed them is a *LimitError. Growth of up to SmallGrowth bytes is never refused, so that every task can end.
	Bytes, AllBytes int
}

// SmallGrowth is how many bytes a task may always grow by at once, whatever the quota.
const SmallGrowth = 1 << 10

// accountOfKey is the prefix of the accounts of keys.
const accountOfKey = "k"

// Account returns the name of the account in which a task of owner counts. The account of a key never has the name of an owner's.
func (q Quota) Account(owner string) string {
	if q.Key != "" {
		return accountOfKey + q.Key
	}
	return "o" + owner
}

// Usage is what a Quota bounds: of one account, and in AllBytes of everybody.
type Usage struct {
	Running, Kept   int64
	Bytes, AllBytes int64
}

// Admit returns a *LimitError if the quota has no room for one more task of n bytes beside what is used.
func (q Quota) Admit(u Usage, n int64) error {
	switch {
	case q.Running > 0 && u.Running >= int64(q.Running):
		return &LimitError{What: limitRunning, Max: int64(q.Running)}
	case q.Kept > 0 && u.Kept >= int64(q.Kept):
		return &LimitError{What: limitKept, Max: int64(q.Kept)}
	}
	return q.Room(u, n)
}

// Room returns a *LimitError if the quota has no room for n more bytes.
func (q Quota) Room(u Usage, n int64) error {
	switch {
	case q.Bytes > 0 && u.Bytes+n > int64(q.Bytes):
		return &LimitError{What: limitBytes, Max: int64(q.Bytes)}
	case q.AllBytes > 0 && u.AllBytes+n > int64(q.AllBytes):
		return &LimitError{What: limitAllBytes, Max: int64(q.AllBytes)}
	}
	return nil
}

// The names of a quota's limits in errors.
const (
	limitRunning  = "unfinished tasks per requestor"
	limitKept     = "stored tasks per requestor"
	limitBytes    = "bytes of tasks per requestor"
	limitAllBytes = "bytes of tasks in all"
)
