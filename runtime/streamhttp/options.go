package streamhttp

import (
	"log/slog"
	"math"
	"net/http"
	"time"
)

// Option changes a default of Handler.
type Option func(*options)

type options struct {
	logger      *slog.Logger
	guard       guard
	cors        cors
	middleware  []func(http.Handler) http.Handler
	sessionless bool
	lifetime    time.Duration // of sealed session ids
	maxBody     int
	bodyTotal   int64
	bodyTimeout time.Duration
	writeWait   time.Duration
	keepAlive   time.Duration
	prime       time.Duration // until a response without an answer becomes a stream
	retry       time.Duration // after which clients should resume a stream
	idle        time.Duration // of sessions
	maxSessions int
	maxInFlight int
	maxStreams  int // 0: twice maxSessions, if that is less than defaultStreams
	quotaKey    func(*http.Request) string
	replay      int // bytes that a stream keeps
	replayTotal int // bytes that all sessions keep
}

func defaults() options {
	return options{
		logger: slog.New(slog.DiscardHandler), maxBody: 16 << 20, bodyTotal: 128 << 20, bodyTimeout: 30 * time.Second, writeWait: 30 * time.Second,
		keepAlive: 15 * time.Second, prime: time.Second, retry: time.Second, idle: 30 * time.Minute,
		maxSessions: 10_000, maxInFlight: 20_000, lifetime: 24 * time.Hour, replay: 1 << 20, replayTotal: 128 << 20,
	}
}

// WithLogger sets the logger; the default discards. Nothing waits for it: records go through a server.LogQueue.
func WithLogger(l *slog.Logger) Option { return func(o *options) { o.logger = l } }

// WithHosts allows values of the Host header beside loopback ones, with or without a port; "*" allows all. A server that is
// reached by a name of its own needs it.
func WithHosts(hosts ...string) Option { return func(o *options) { o.guard.hosts.add(hosts) } }

// WithOrigins allows pages of other origins, such as "https://app.example.com"; "*" allows all. Pages of loopback and of the
// served host itself are allowed anyway, requests without an origin too: those are not a browser's.
func WithOrigins(origins ...string) Option { return func(o *options) { o.guard.origins.add(origins) } }

// WithMaxBody sets the largest body in bytes; the default is 16 MiB. Larger ones are refused with 413. A question whose answer is refused for that waits on: the
// client can send another answer until the question times out (server.WithQuestionTimeout).
func WithMaxBody(bytes int) Option { return func(o *options) { o.maxBody = max(bytes, 1) } }

// WithMaxBodyTotal sets how many bytes all bodies that are being read may take together, each with 16 KiB for its request; the
// default is 128 MiB. One principal has at most three quarters of it; all callers without an identity count as one unless WithQuotaKey
// tells them apart. A body beyond the caller's part is refused with 429, one beyond the total with 503.
func WithMaxBodyTotal(bytes int64) Option { return func(o *options) { o.bodyTotal = max(bytes, 1) } }

// WithBodyTimeout sets how long a body may take to arrive; the default is 30 seconds, 0 means no limit. A slower one is refused with
// 408. Middleware of WithMiddleware that reads the body itself gets an error after that time.
func WithBodyTimeout(d time.Duration) Option { return func(o *options) { o.bodyTimeout = d } }

// WithWriteTimeout sets how long a client may take to accept what is written at once; the default is 30 seconds, 0 means no
// limit. A slower client loses its connection, and so does one that reads nothing for 5 seconds while others wait for the room that its
// answers take; see server.WithMaxBytesUnread.
func WithWriteTimeout(d time.Duration) Option { return func(o *options) { o.writeWait = d } }

// WithKeepAlive sets after how much silence a stream gets a comment; the default is 15 seconds, 0 means never. In 2026-07-28 an
// answer that takes longer becomes a stream by it.
func WithKeepAlive(d time.Duration) Option { return func(o *options) { o.keepAlive = d } }

// WithPriming sets after how much time without an answer a response of 2025-11-25 becomes a stream, whose first event lets the
// client resume it; the default is 1 second, 0 means at once.
func WithPriming(d time.Duration) Option { return func(o *options) { o.prime = d } }

// WithRetry sets after how long clients of 2025-11-25 should resume a stream that was closed; the default is 1 second.
func WithRetry(d time.Duration) Option { return func(o *options) { o.retry = d } }

// WithIdleTimeout sets how long a session may be without any request before it ends; the default is 30 minutes, 0 means for ever. A client
// without an identity loses its tasks with the session: it ends so long after they are finished. With
// server.WithSealKeys the process only forgets it then: the next request resumes it, here or in another process.
func WithIdleTimeout(d time.Duration) Option { return func(o *options) { o.idle = d } }

// WithSessionLifetime sets how long the id of a session is valid in other processes that have the keys of server.WithSealKeys; the default is
// 24 hours. The process that has the session serves it beyond that.
func WithSessionLifetime(d time.Duration) Option { return func(o *options) { o.lifetime = d } }

// WithMaxSessions sets how many sessions there may be; the default is 10,000. One principal has at most three quarters of them; all
// callers without an identity count as one unless WithQuotaKey tells them apart. Beyond that, a new session ends the one that was unused for
// the longest time, of the principal with the most sessions, or of its own principal if no other has more. A session with a request, a
// listener, an unanswered call or an unfinished task that would end with it is in use and stays; when no session may end, the new one is refused with
// 503. Callers without an identity have 1,000 unfinished tasks together (task.Limits.Running).
func WithMaxSessions(n int) Option { return func(o *options) { o.maxSessions = max(n, 1) } }

// WithMaxStreams sets how many streams of GET requests there may be, each of which takes about 24 KiB; the default is 4,096, or twice
// WithMaxSessions if that is less. One principal has at most three quarters of them: beyond that a GET is refused with 429, beyond the total
// with 503. A session has at most 16 listeners; the oldest ends for a new one.
func WithMaxStreams(n int) Option { return func(o *options) { o.maxStreams = max(n, 1) } }

// defaultStreams is how many streams of GET requests there may be. requestCost is about how many bytes a request takes beside its body, until it is
// answered: its goroutine, and the buffers of its connection.
const (
	defaultStreams = 4096
	requestCost    = 24 << 10
)

// WithMaxExchanges sets how many requests of revisions without sessions may be in flight, and how many under WithoutSessions; the default is
// 20,000. More are refused with 503. Requests of a session are bounded by server.WithMaxInFlight, and all by server.WithMaxBytesInFlight: each
// counts about 24 KiB beside its body, so that some 5,000 requests reach the default of that.
func WithMaxExchanges(n int) Option { return func(o *options) { o.maxInFlight = max(n, 1) } }

// WithQuotaKey lets key name the callers of requests without an identity for quotas, for example by the client's address, which
// only the operator knows how to find behind proxies. The default is none: anonymous callers count as one.
func WithQuotaKey(key func(*http.Request) string) Option {
	return func(o *options) { o.quotaKey = key }
}

// WithReplay sets how many bytes one stream keeps for a client that resumes it; the default is 1 MiB. A session keeps four times
// that, and 256 streams that are over; those whose answers nobody has read give way last. The log says when a client resumes a stream after messages that had
// to give way; in place of an answer among them the client gets an error, if the id of its request has at most 64 bytes and the request came in no batch. In
// place of an answer that is larger than a session keeps, a client that comes back gets an error, unless the answer is in a file (server.Opener); any other
// message of that size is dropped. Questions give way last; the handler of one that does gets an error.
func WithReplay(bytes int) Option {
	return func(o *options) { o.replay = min(max(bytes, 1), math.MaxInt/8) }
}

// WithReplayTotal sets how many bytes all sessions keep for clients that may resume, for listeners to come, and for attached clients
// that have not read them yet; the default is 128 MiB. Streams that wait for a client count 768 bytes more each, and their messages 48
// each. Beyond that, messages that were written to attached clients are dropped first, then the oldest ones of the principal with the
// most sessions. Clients of one principal leave at most three quarters unread: beyond that, progress and log messages for them are
// dropped, questions and their withdrawals are not.
func WithReplayTotal(bytes int) Option { return func(o *options) { o.replayTotal = max(bytes, 1) } }
