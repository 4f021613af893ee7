package client

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/client/internal/dialects"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Option changes a default of a session.
type Option func(*config)

type config struct {
	logger          *slog.Logger
	info            json.RawMessage
	dialects        []*wire.Dialect // newest first
	revision        string
	timeout         time.Duration
	maxTime         time.Duration
	questionTimeout time.Duration
	probe           time.Duration
	grace           time.Duration
	limits          check.Limits
	maxFrame        int
	logLevel        string
	handlers        Handlers
	serverName      string
}

func newConfig(opts []Option) config {
	c := config{
		logger: slog.New(slog.DiscardHandler), info: Info("mcpkiln", "0"), dialects: dialects.All,
		timeout: time.Minute, maxTime: 10 * time.Minute, questionTimeout: 10 * time.Minute, probe: 2 * time.Second, grace: 3 * time.Second,
	}
	for _, o := range opts {
		o(&c)
	}
	return c
}

// WithLogger sets the logger; the default discards. Late answers are logged at level debug, breaches of the protocol as warnings.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// Info returns the argument of WithInfo for a name and a version alone.
func Info(name, version string) json.RawMessage {
	info, _ := json.Marshal(struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}{name, version})
	return info
}

// versions returns the revisions that the client may use, newest first.
func (c *config) versions() (all []string) {
	for _, d := range c.dialects {
		all = append(all, d.Version)
	}
	return all
}

// WithInfo says who the client is: the JSON object of an Implementation, with name and version at least.
func WithInfo(info json.RawMessage) Option { return func(c *config) { c.info = info } }

// WithRevision sets the only protocol revision to use. The default is the newest that both sides support.
func WithRevision(version string) Option { return func(c *config) { c.revision = version } }

// WithTimeout sets each, how long a request may take without progress (60 s), and most, how long it may take with progress and in all its
// rounds, or all pages of a list (10 min). The time that a person takes to answer a question counts in neither. 0: no limit.
func WithTimeout(each, most time.Duration) Option {
	return func(c *config) { c.timeout, c.maxTime = each, most }
}

// WithQuestionTimeout sets how long a question of the server may be open; the default is 10 min. 0: no limit.
func WithQuestionTimeout(d time.Duration) Option { return func(c *config) { c.questionTimeout = d } }

// WithProbe sets how long a server may leave the first request of a revision without a handshake unanswered before the client tries the
// handshake; the default is 2 s.
func WithProbe(d time.Duration) Option { return func(c *config) { c.probe = d } }

// WithGrace sets how long a child process may take to end after its input was closed, and again after SIGTERM; the default is 3 s.
func WithGrace(d time.Duration) Option { return func(c *config) { c.grace = d } }

// WithLimits sets the limits of JSON that the server sends.
func WithLimits(l check.Limits) Option { return func(c *config) { c.limits = l } }

// WithMaxFrame sets how large one message of the server may be, in bytes; the default is 16 MiB. A list may be
// four times as large in all its pages.
func WithMaxFrame(bytes int) Option { return func(c *config) { c.maxFrame = bytes } }

// WithLogLevel asks the server for its log records from that level on, see Handlers.Log.
func WithLogLevel(level string) Option { return func(c *config) { c.logLevel = level } }

// WithHandlers sets the handlers of the server's questions and notifications. Capabilities without a handler are not declared.
func WithHandlers(h Handlers) Option { return func(c *config) { c.handlers = h } }

// WithServerName sets the host's name for the server, which Question.Server then is instead of the server's own.
func WithServerName(name string) Option { return func(c *config) { c.serverName = name } }

// WithDialects sets the revisions that may be used, newest first, instead of all that this package knows.
func WithDialects(all ...*wire.Dialect) Option { return func(c *config) { c.dialects = all } }

// CallOption changes one request.
type CallOption func(*callConfig)

type callConfig struct {
	timeout, maxTime time.Duration
	progress         func(Progress)
	meta             json.RawMessage
	ttl              time.Duration
	inline           bool
	leavesOpen       bool
	before           time.Duration // what earlier requests for the same call have taken; it counts in maxTime
	renewsNothing    bool          // if the server has ended the session, no new one is begun for it
}

// Timeout is WithTimeout for one request.
func Timeout(each, most time.Duration) CallOption {
	return func(c *callConfig) { c.timeout, c.maxTime = each, most }
}

// after sets the time that a call has taken before its first request.
func after(d time.Duration) CallOption { return func(c *callConfig) { c.before = d } }

// renewNothing is for calls that are made because a session is new: if one of them began the next session, that would make it again.
func renewNothing(c *callConfig) { c.renewsNothing = true }

// OnProgress has f called for progress of one request, one report after the other, on the goroutine of its caller and never after the call has
// returned: while f runs, the call does not return. Of an Execution, f is called on the goroutine of Start until that returns, and then on one of the session,
// whether somebody waits for the Execution or not. Result passes on what came before the end of the task; after Result, Cancel and Detach f is not
// called any more. These three and Session.Close wait until f has returned, but no longer than a second, since f may itself call them: only an f that takes
// longer can still run when they have returned.
func OnProgress(f func(Progress)) CallOption { return func(c *callConfig) { c.progress = f } }

// Meta adds the members of a JSON object to the _meta of one request.
func Meta(members json.RawMessage) CallOption { return func(c *callConfig) { c.meta = members } }

// Inline has Start call a tool as CallTool does: as a task only if the server decides that, or if the tool always runs as one.
func Inline() CallOption { return func(c *callConfig) { c.inline = true } }

// LeaveOpen has a task that Start makes go on when it asks what this session can not answer, as a task that the session has only resumed does: see
// Handlers.LeftOpen. It is for hosts that pass the task's Ref on to whoever can answer. Without it the task is cancelled.
func LeaveOpen() CallOption { return func(c *callConfig) { c.leavesOpen = true } }

// Progress is a server's report on a running request.
type Progress struct {
	Progress, Total float64 // Total 0: unknown
	Message         string
}
