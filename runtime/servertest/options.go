package servertest

import (
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// Option changes a default of a client.
type Option func(*config)

type config struct {
	revision     string
	principal    string
	capabilities *object
	noTasks      bool
	logLevel     server.Level
	patience     time.Duration
}

// WithRevision has the client use a revision that the server serves; the default is the newest of them.
func WithRevision(version string) Option { return func(c *config) { c.revision = version } }

// WithPrincipal sets the identity of the client, as server.WithPrincipal does; the default is none.
func WithPrincipal(name string) Option { return func(c *config) { c.principal = name } }

// WithCapabilities has the client declare exactly these, such as map[string]any{"roots": map[string]any{}}; the default is all that
// the server may require in the client's revision, its extensions, and tasks. nil declares nothing, as the oldest clients do.
func WithCapabilities(all map[string]any) Option {
	return func(c *config) {
		if all == nil {
			all = object{}
		}
		c.capabilities = &all
	}
}

// WithoutTasks makes a client that does not support tasks.
func WithoutTasks() Option { return func(c *config) { c.noTasks = true } }

// WithLogLevel has the client ask for log messages from that level on. See Client.Logs.
func WithLogLevel(level server.Level) Option { return func(c *config) { c.logLevel = level } }

// WithPatience sets how long anything is waited for before the test fails; the default is 10 seconds. In a bubble of synctest it is a day,
// which takes no time there: a server whose task never ends is not deadlocked, since it goes on renewing the task's lease.
func WithPatience(d time.Duration) Option { return func(c *config) { c.patience = d } }

// defaultPatience recognises a bubble by its clock, which begins in the year 2000.
func defaultPatience() time.Duration {
	if time.Now().Year() < 2020 {
		return 24 * time.Hour
	}
	return 10 * time.Second
}

// CallOption changes one request.
type CallOption func(*callConfig)

type callConfig struct {
	asTask, inline bool
	ttl            time.Duration
	progress       func(Progress)
	meta           object
}

// AsTask asks for a task where the client decides that (2025-11-25). Tools that are always tasks need no asking.
func AsTask() CallOption { return func(o *callConfig) { o.asTask = true } }

// Inline has the call run inline: this request, like one of an older client, does not accept a task as its answer.
func Inline() CallOption { return func(o *callConfig) { o.inline = true } }

// WithTTL asks for a task with this ttl.
func WithTTL(d time.Duration) CallOption {
	return func(o *callConfig) { o.asTask, o.ttl = true, d }
}

// WithProgress has report called with each progress notification, in order. It must not block.
func WithProgress(report func(Progress)) CallOption {
	return func(o *callConfig) { o.progress = report }
}

// WithMeta adds members to the request's _meta.
func WithMeta(meta map[string]any) CallOption { return func(o *callConfig) { o.meta = meta } }
