package server

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Option changes a default of the server.
type Option func(*config)

type config struct {
	logger         *slog.Logger
	limits         check.Limits
	tasks          task.Limits
	rates          Rates
	maxInFlight    int
	maxBytes       int64
	maxUnread      int64
	pageSize       int
	progressRate   int
	grace          time.Duration
	ping           time.Duration // 0: the transport's default
	askTimeout     time.Duration
	parkAfter      time.Duration
	listTasks      bool
	store          task.Store
	dispatcher     task.Dispatcher
	rootsChanged   func(ctx context.Context)
	partial        func(Partial)
	sealKeys       [][]byte
	gather         time.Duration
	middleware     []func(next Handle) Handle
	toolMiddleware []func(next ToolHandle) ToolHandle
	observers      []Observer
	callLog        *slog.Level // nil: none
	cacheTTL       time.Duration
	cacheScope     string
	toolFilter     filter  // nil: everybody has all tools
	promptFilter   filter  // of prompts; nil: everybody has all
	resourceFilter filter  // of resources, by URI; nil: everybody has all
	trees          []*tree // the longest prefix first
	maxTreeFile    int64
}

func defaults() config {
	return config{
		logger: slog.New(slog.DiscardHandler), maxInFlight: 20_000, maxBytes: 128 << 20, maxUnread: 128 << 20, pageSize: 100, progressRate: 10,
		grace: 5 * time.Second, askTimeout: 10 * time.Minute, gather: 10 * time.Millisecond, cacheScope: cachePrivate,
		maxTreeFile: math.MaxInt64,
	}
}

// Partial is what a cancelled handler returned beside its error (CAN25).
type Partial struct {
	Tool   string
	Result any // the handler's output, a pointer
	Err    error
}

// WithLogger sets the logger; the default discards. Nothing waits for it: records go through a LogQueue.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// WithLimits sets the limits of received JSON and of handlers' outputs: size, what it decodes to, nesting depth, length of
// numbers, violations listed (VAL07). What is decoded for a caller also counts in WithMaxBytesInFlight.
func WithLimits(l check.Limits) Option { return func(c *config) { c.limits = l } }

// WithTaskLimits sets the limits of tasks: how many, how long, how large each and all together, how often polled (TSK22, TSK28).
func WithTaskLimits(l task.Limits) Option { return func(c *config) { c.tasks = l } }

// WithMaxInFlight sets how many requests may be in flight together; the default is 20,000. One principal has at most three quarters of
// them, less when others have many; all callers without an identity count as one, unless WithQuotaKey tells them apart. More are
// refused with an error that says how long to wait: over HTTP with status 429 if the caller's part is used up, else 503. Pings and
// requests to cancel tasks are served nevertheless.
func WithMaxInFlight(n int) Option { return func(c *config) { c.maxInFlight = max(n, 1) } }

// WithMaxBytesInFlight sets how many bytes all requests in flight may have together, not counting those up to 4 KiB; the bytes that they
// and running tasks decode to, beyond 4 KiB each, the clients' answers to questions, the URIs that sessions are subscribed to, and over
// HTTP 24 KiB for each request count, too. The default is 128 MiB. One principal has at most three quarters of them, as with
// WithMaxInFlight. A request or subscription beyond that is refused as with WithMaxInFlight; a handler whose question has an answer beyond
// that gets an error that says so.
func WithMaxBytesInFlight(n int64) Option { return func(c *config) { c.maxBytes = max(n, 1) } }

// WithMaxBytesUnread sets how many bytes the answers that wait for peers to read them may have together, not counting those up to
// 4 KiB; the default is 128 MiB. One principal has up to a third of what it leaves to others, so a quarter of all if there are no others, and one of
// its connections or sessions has half of that; all callers without an identity count as one, unless WithQuotaKey tells them apart. A caller
// with no unread answer may have one of any size, as soon as there is room for it, or half of the limit is free.
//
// Beyond that, further calls of the caller wait: they start no handler and encode no answer. Calls of a tool whose last answers to the
// caller had up to 4 KiB do not wait. While others wait, clients that read nothing for 5 seconds are given up, those with the most unread
// bytes first: a connection ends with ErrStalled, over HTTP the response ends. Reading slowly is enough: at least 64 KiB in that time, beyond what the
// system buffers of a connection (RESULTS.md). If the callers wait for more bytes than this limit, that time is shorter in proportion, down to a second.
// Half as many bytes are for results of tasks, and for answers that turn out larger than those before them.
//
// What a handler returns is counted when it is encoded, so this limit does not bound what running handlers hold. The size of an answer is estimated
// from those before it: if all were small and then become large at once, there are as many large results in memory as calls
// that run by then. Only the number of those bounds that: maxConcurrent of the tool (Tool.MaxConcurrent), or WithMaxInFlight.
func WithMaxBytesUnread(n int64) Option { return func(c *config) { c.maxUnread = max(n, 1) } }

// WithPageSize sets how many tools or tasks one page has; the default is 100. For tasks, task.Limits.Page overrides it.
func WithPageSize(n int) Option { return func(c *config) { c.pageSize = max(n, 1) } }

// WithProgressRate sets how many progress notifications one call sends in a second at most; the default is 10, the least
// 4 (PRO05).
func WithProgressRate(n int) Option { return func(c *config) { c.progressRate = max(n, 4) } }

// WithGrace sets how long handlers have to return after shutdown or disconnect, how long a shutdown leaves tasks alone that can not be cancelled or may
// not run again, and how long requests are still answered after the end of input; the default is 5 seconds (CAN21, CAN26).
// A connection whose client does not read takes up to a second more to close. These times come one after the other: if a handler never returns, Run takes
// the grace period and a second after a signal, and three times the period and a second after the end of input.
func WithGrace(d time.Duration) Option { return func(c *config) { c.grace = d } }

// WithQuestionTimeout sets how long a question without a timeout of its own waits, and, in 2026-07-28, for how long after its questions'
// timeout the requestState of an inline call is still accepted (EXT17); the default is 10 minutes.
func WithQuestionTimeout(d time.Duration) Option { return func(c *config) { c.askTimeout = d } }

// WithParkAfter sets how long a question of a task is open before the run that asked it ends and holds nothing any more; the handler runs again from
// the top when the answer is there, on any replica. The default is 30 seconds; a negative duration keeps every run. It is for tasks of a durable
// store that may run again (TaskPolicy.OnCrash) and can be cancelled. In a run that ends so, Ask returns task.ErrParked: return it as it is. If
// another goroutine of the handler is in a step (Do), that is done first, and a question that is asked with a deadline of ctx keeps its run.
func WithParkAfter(d time.Duration) Option { return func(c *config) { c.parkAfter = d } }

// WithTaskList serves tasks/list also to peers without an identity, each seeing its own tasks (TSK21). Without it they get "method not found",
// and the capability is not declared: a server that cannot tell its callers apart would show everybody's tasks to whoever asks. Peers with
// an identity (WithPrincipal) can always list.
func WithTaskList() Option { return func(c *config) { c.listTasks = true } }

// WithTaskStore keeps tasks in s instead of memory.
func WithTaskStore(s task.Store) Option { return func(c *config) { c.store = s } }

// WithTaskDispatcher lets d decide where tasks run, instead of this process.
func WithTaskDispatcher(d task.Dispatcher) Option { return func(c *config) { c.dispatcher = d } }

// WithRootsChanged sets a function that is called when the roots of a client have changed: those that it listed before may not be valid
// any more (LET12). The notification of a client that did not declare roots.listChanged is ignored. ctx has the values of the client's
// message, its principal among them, and ends with the connection. Stateless revisions have no such message: ask again.
func WithRootsChanged(changed func(ctx context.Context)) Option {
	return func(c *config) { c.rootsChanged = changed }
}

// WithPartialResults sets the hook for results that cancelled handlers returned beside their error (CAN25). They
// never reach the wire.
func WithPartialResults(hook func(Partial)) Option { return func(c *config) { c.partial = hook } }

// WithSealKeys sets the keys that seal the requestState of inline calls which ask (EXT17), at least 16 bytes each. The first one seals, all open:
// put a new key in front to rotate. Replicas that serve each other's retries need the same ones, and so does a process that is restarted; the
// default is a random key of this process. ParseSealKeys reads them from a file or the environment. Over HTTP they seal the ids of sessions,
// too, so that any process with the key can resume a session (LET18): then the tasks of sessions without an identity end when their client
// ends the session, or by their ttl.
func WithSealKeys(keys ...[]byte) Option { return func(c *config) { c.sealKeys = keys } }

// WithGather sets how long an inline call of a stateless revision that asks waits for more questions to ask with it, from
// other goroutines of the handler; the default is 10 milliseconds. After that it waits for the steps under way (Do).
func WithGather(d time.Duration) Option { return func(c *config) { c.gather = max(d, 0) } }

// WithCacheHint sets how long clients may cache lists and other results that state no ttl themselves, and whether one client's copy may be
// served to others (public); by default clients may not cache them, and the scope is private (EXT20). Results of handlers for a caller with an identity stay
// private, as do all pages of a list once a handler declares one of them private. Results for a client that was asked for input are not
// cached at all (LET21).
func WithCacheHint(ttl time.Duration, public bool) Option {
	return func(c *config) {
		c.cacheTTL, c.cacheScope = max(ttl, 0), cachePrivate
		if public {
			c.cacheScope = cachePublic
		}
	}
}

// The cache scopes: who may use a cached result.
const (
	cachePrivate = "private"
	cachePublic  = "public"
)
