package streamhttp

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/mcpkiln/mcpkiln/runtime/internal/quota"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// stream has the server's messages in one response of a session, in order. The response is written by the goroutine of
// whichever HTTP request is attached to it: first the one that opened it, after a lost connection the one that resumes it.
// Senders only append.
type stream struct {
	number    uint64
	listener  bool
	about     rpc.ID // its request; zero for several, or none
	batched   bool   // it is answered by arrays
	received  bool   // its request was handed to the server; guarded by session.order
	status    int    // of an answer that comes alone; set before that is added
	retry     int    // seconds after which the client may try again; 0: not sent
	limits    streamLimits
	kept      *atomic.Int64 // session.kept
	total     *atomic.Int64 // Endpoint.kept, with the overhead of streams and events; nil: not counted
	allUnread *quota.Limit  // Endpoint.unread; nil: not counted
	own       *atomic.Int64 // the tenant's part of allUnread

	*alarm                      // wakes the reader
	pace   atomic.Pointer[pace] // of its response; nil: there is none

	mu      sync.Mutex
	room    sync.Cond      // the reader took events, or is gone
	one     [1]storedEvent // the array of events, until there is a second one
	events  []storedEvent  // kept: unread ones, and read ones that a resumption may ask for
	first   int            // number of events[0]; the first event has number 1
	gaveWay int            // number of the last event that gave way to the limits
	passed  int            // how many of the oldest events are no notifications
	holes   int            // about how many of these were dropped
	bytes   int            // of events
	counted int            // bytes that kept counts
	inTotal int            // what total counts
	unread  int            // number of the next event for the reader
	behind  load           // of the events that the reader has not taken
	written int            // number of the last event that the attached reader has written
	due     load           // of the events that it has not written, taken or not
	copying int            // number of the event with an answer in files that the attached reader writes; 0: none
	held    int            // bytes that allUnread counts
	inline  bool           // its reader adds the answer itself
	reader  uint64         // number of the attached one; 0: none
	readers uint64         // how many there have been
	started bool           // the client knows an event id, so it can resume
	ended   bool           // nothing will be added
	batch   batchRequests  // the requests that it answers with one array
	polling bool           // the reader is to end its response; the client resumes the stream for the rest
	dropped bool           // nobody can read it any more; what is added is freed
	since   time.Time      // when the reader left, or the answer in files was added
}

// storedEvent is a frame of a stream, and whose cancellation drops it (CAN02). An event that was dropped has no frame, and keeps its number.
type storedEvent struct {
	frame []byte
	long  *server.LongAnswer // in place of frame, until it was written once
	about *rpc.ID            // one request of a batch; nil: the stream's request, or all of its batch; zero: none, so no cancellation drops it

	moved      int      // its number before it was moved; 0: it was not moved since a client last resumed the stream
	question   *carrier // of the question that it is; nil: it is no question
	withdrawal bool     // of a question
	answer     bool     // it is the answer in memory, or an array of answers
	gaveUp     bool     // it has errors in place of its answers, unless these are smaller than errors would be
	awaited    bool     // it is an answer, which the server counts as long as its reader is attached (AwaitRead)
}

// size is how many bytes the event counts: for an answer in files, the piece of it that is in memory at a time; 0: it was dropped.
func (e *storedEvent) size() int {
	if e.long != nil {
		return piece
	}
	return len(e.frame)
}

// load is the bytes of several events.
type load struct {
	all     int
	counted int // of those that allUnread counts; see addEvent
}

func (l load) plus(e *storedEvent) load {
	l.all += e.size()
	if e.question == nil && !e.awaited {
		l.counted += e.size()
	}
	return l
}

func (l load) minus(other load) load {
	return load{all: l.all - other.all, counted: l.counted - other.counted}
}

// streamLimits bound what a stream keeps.
type streamLimits struct {
	replay  int // bytes
	answer  int // bytes of one event that nobody reads, beyond which an error replaces it if it is an answer, and it is dropped if not; 0: no limit
	pending int // bytes unread by an attached reader before its writer waits
}

// The overhead of what is kept, in bytes (TSK28).
const (
	placeSize = 100                               // a place in a table by request, with what growing leaves free
	alarmSize = int(unsafe.Sizeof(alarm{})) + 112 // an alarm with its channel

	streamSize = int(unsafe.Sizeof(stream{})) + alarmSize + 2*placeSize          // a stream that nobody reads, in the tables by number and by request
	eventSize  = int(unsafe.Sizeof(storedEvent{})*3/2 + unsafe.Sizeof(rpc.ID{})) // an event with what append leaves free, and the id of its request
	memberSize = placeSize                                                       // a request of a batch
)

var (
	errGone     = errors.New("streamhttp: the stream is over")
	errNoReader = errors.New("streamhttp: nobody listens")
	errUnread   = errors.New("streamhttp: too much is unread")
	errAway     = errors.New("streamhttp: the client is away, and the question could not be kept until it comes back (WithReplay)")
)

func newStream(number uint64, limits streamLimits, kept *atomic.Int64, a *alarm) *stream {
	s := &stream{number: number, limits: limits, kept: kept, alarm: a, first: 1, unread: 1, status: http.StatusOK}
	s.events = s.one[:0]
	s.room.L = &s.mu
	return s
}

func (s *stream) id(number int) eventID {
	id := eventID{stream: s.number, number: number, listener: s.listener}
	if !s.batched && len(s.about.Text()) <= maxRequest {
		id.request = s.about
	}
	return id
}

// add is addEvent for a message about the stream's request, or in a listener.
func (s *stream) add(frame []byte, last bool) error {
	return s.addEvent(storedEvent{frame: frame}, last)
}

// addAbout is addEvent for a message about a request of the stream.
func (s *stream) addAbout(about rpc.ID, e storedEvent, last bool) error {
	if s.batched && about != s.about {
		one := about
		e.about = &one
	}
	return s.addEvent(e, last)
}

// addEvent appends an event, whose frame must not change any more. It does not wait for the reader: AwaitRoom, called before it, and AwaitRead,
// called after it, do. Without a reader the oldest events of a request's stream give way; a listener takes none. All but answers, questions and their
// withdrawals are dropped while the clients of the stream's tenant, or those of all tenants, leave too much unread. A question is never dropped for
// that, since somebody waits for its answer (CAN30, TSK19), and does not count: only open ones have an event, and the call or task that asks has its
// params in memory all the same. Its withdrawal counts, also beyond the limit: without it a user would be asked what is over (CAN19).
func (s *stream) addEvent(e storedEvent, last bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.answer = e.long == nil && (last || s.batched && isArray(e.frame)) // an early array of a batch is not the last event
	e.awaited = e.answer && s.reader != 0
	if s.allUnread != nil && s.reader != 0 && !e.answer && e.long == nil && e.question == nil && !e.withdrawal {
		size := int64(e.size())
		if !s.allUnread.Take(s.own, size) {
			return errUnread
		}
		defer s.allUnread.Give(s.own, size) // by then recount has counted it
	}
	switch {
	case s.ended:
		return errGone
	case s.listener && s.reader == 0:
		return errNoReader
	}
	s.ended = last
	e = s.batch.wanted(e)
	switch {
	case s.dropped:
		if e.question != nil {
			e.question.lose()
		}
	case e.size() > 0:
		s.push(e)
		s.trim()
		s.recount()
	}
	s.signal()
	return nil
}

// answersInline records that the goroutine which reads adds the answer itself, so that it must not wait for its reader.
func (s *stream) answersInline() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inline = true
}

// refill appends events beyond all limits: they have waited, and the reader is about to take them.
func (s *stream) refill(events []storedEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		s.push(e)
	}
	s.recount()
	s.signal()
}

func (s *stream) push(e storedEvent) {
	if s.events = append(s.events, e); len(s.events) > 1 {
		s.one[0] = storedEvent{} // events has an array of its own: this one keeps no frame
	}
	s.bytes += e.size()
	s.behind, s.due = s.behind.plus(&e), s.due.plus(&e)
	if e.long != nil {
		s.since = time.Now()
	}
}

// recount counts in kept and total what can be dropped: messages that wait for a client that is away, and those that an attached reader has written.
// Those that the reader has still to write count in allUnread. s.mu is held.
func (s *stream) recount() {
	n, held, beside := s.bytes, 0, eventSize*len(s.events)
	switch {
	case s.reader != 0:
		n, held, beside = max(0, n-s.due.all), s.due.counted, eventSize*max(0, s.written-s.first+1)
	case !s.dropped && s.readers > 0:
		beside += streamSize + memberSize*s.batch.states.size()
	}
	s.kept.Add(int64(n - s.counted))
	s.counted = n
	if s.total != nil {
		n += beside
		s.total.Add(int64(n - s.inTotal))
		s.inTotal = n
	}
	if s.allUnread != nil {
		s.allUnread.Add(s.own, int64(held-s.held))
		s.held = held
	}
}

// drop frees the events, and those that are added later: nobody can read the stream any more. Its request goes on.
func (s *stream) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	s.recount()
}

// lose is drop for a stream that its client may resume: whoever waits for the answer to an unread question on it gets an error.
func (s *stream) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loseAll()
	s.recount()
}

// loseAll is lose without a recount. s.mu is held.
func (s *stream) loseAll() {
	for i := range s.events {
		s.loseQuestion(i)
	}
	s.forget()
}

// forget is drop without a recount. s.mu is held.
func (s *stream) forget() {
	s.unread = s.first + len(s.events)
	s.first, s.passed, s.holes = s.unread, 0, 0
	s.batch, s.one[0] = batchRequests{}, storedEvent{}
	s.dropped, s.events, s.bytes, s.behind, s.due, s.copying = true, nil, 0, load{}, load{}, 0
	s.room.Broadcast()
}

// unreadable reports whether the stream was dropped.
func (s *stream) unreadable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// unanswered reports whether the request is over and the stream has no message.
func (s *stream) unanswered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended && !s.started && s.bytes == 0
}

// quiet reports whether the reader has nothing to do yet.
func (s *stream) quiet() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.behind.all == 0 && !s.ended && !s.polling
}

// start records that the client is about to know an event id, so that it can resume the stream.
func (s *stream) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = true
}

// known reports whether the client can know an id of the stream.
func (s *stream) known() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started || s.listener
}

// idle reports whether nobody reads, and what the stream is kept for then.
func (s *stream) idle() (idle bool, kept use) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.listener && slices.ContainsFunc(s.events, func(e storedEvent) bool { return e.question != nil }):
		kept = asking
	case s.listener:
	case !s.ended:
		kept = inFlight
	case slices.ContainsFunc(s.events[max(0, s.written+1-s.first):], func(e storedEvent) bool { return e.size() > 0 }):
		kept = unwritten
	}
	return s.reader == 0, kept
}

// fresh reports whether the stream had no reader yet: the one that it was made for is about to attach.
func (s *stream) fresh() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readers == 0
}

// unwritten returns how many bytes an attached reader has still to write.
func (s *stream) unwritten() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader == 0 {
		return 0
	}
	return int64(s.due.all)
}
