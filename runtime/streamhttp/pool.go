package streamhttp

import (
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// pools keep memory that requests need for a short time. Each Endpoint has its own.
type pools struct {
	frames, downlinks, alarms, exchanges, answers sync.Pool
}

// frame is the body of a request, with room for a small one.
type frame struct {
	data    []byte
	who     server.Requestor // whose request it is
	counted int64            // bytes that Endpoint.bodies counts for who

	from    http.ResponseWriter // of its request; only while it is read
	arrival deadline[*frame]    // in Endpoint.arriving

	stopping sync.WaitGroup // of stopReading
	stopped  bool           // by stopReading; set while it runs
}

func newFrame(data []byte) *frame {
	f := &frame{data: data}
	f.arrival.of = f
	return f
}

func (p *pools) frame() *frame {
	f, ok := p.frames.Get().(*frame)
	if !ok {
		f = newFrame(nil)
	}
	if f.data == nil {
		f.data = make([]byte, 0, 512)
	}
	return f
}

// putFrame takes f back. Its bytes are not counted any more.
func (p *pools) putFrame(f *frame) {
	f.data = keep(f.data)
	p.frames.Put(f)
}

// fit copies a body that is much smaller than its buffer: it may be kept for long, and others can use the large buffer.
func (p *pools) fit(f *frame) {
	if cap(f.data) > 2*len(f.data)+spareBuffer {
		own := append(make([]byte, 0, len(f.data)), f.data...)
		p.spare(f)
		f.data = own
	}
}

// spare takes back the buffer of a body that is no longer needed, before its request is over.
func (p *pools) spare(f *frame) {
	if cap(f.data) <= spareBuffer {
		f.data = f.data[:0]
		return
	}
	if data := keep(f.data); data != nil {
		p.frames.Put(newFrame(data))
	}
	f.data = nil
}

// spareBuffer is how many bytes of a buffer may be kept without use.
const spareBuffer = 4 << 10

func (p *pools) downlink(h *Endpoint, w http.ResponseWriter) *downlink {
	d, ok := p.downlinks.Get().(*downlink)
	if !ok {
		d = new(downlink)
	}
	d.init(h, w)
	return d
}

// putDownlink takes d back when its request is over.
func (p *pools) putDownlink(d *downlink) {
	d.init(nil, nil)
	p.downlinks.Put(d)
}

// alarm wakes the reader of a stream: for something to write, or at a time.
type alarm struct {
	wake chan struct{}    // holds one: there is something to do
	late deadline[*alarm] // in Endpoint.undecided, while the first message is awaited
}

// alarm returns what wakes the goroutine that serves a stream.
func (p *pools) alarm() *alarm {
	if a, ok := p.alarms.Get().(*alarm); ok {
		return a
	}
	a := &alarm{wake: make(chan struct{}, 1)}
	a.late.of = a
	return a
}

// signal wakes the reader.
func (a *alarm) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// putAlarm takes back the alarm of a stream that has ended and has no reader: nobody uses it any more.
func (p *pools) putAlarm(a *alarm) {
	select {
	case <-a.wake:
	default:
	}
	p.alarms.Put(a)
}

func (p *pools) exchange() *exchange {
	if x, ok := p.exchanges.Get().(*exchange); ok {
		return x
	}
	x := new(exchange)
	x.timer = time.AfterFunc(math.MaxInt64, x.tick) // set here, because tick reads the field, also without the lock
	x.late.of = x
	return x
}

// largestAnswer is the largest buffer of an answer that is reused, in bytes.
const largestAnswer = 4 << 20

// copied returns a copy of a frame. A large answer to one request is copied into a buffer that putAnswer took back: most answers are sent
// alone, and are not kept. One that is kept counts by its length, so a much larger buffer is not used for it (TSK28).
func (p *pools) copied(frame []byte, answer bool) []byte {
	if !answer || len(frame) <= spareBuffer {
		return slices.Clone(frame)
	}
	if kept, ok := p.answers.Get().(*[]byte); ok {
		if cap(*kept) >= len(frame) && cap(*kept) <= 2*len(frame)+spareBuffer {
			return append((*kept)[:0], frame...)
		}
		p.answers.Put(kept)
	}
	return slices.Clone(frame)
}

// putAnswer takes back the copy of an answer to which nothing refers any more.
func (p *pools) putAnswer(frame []byte) {
	if n := cap(frame); n > spareBuffer && n <= largestAnswer {
		kept := frame // not the parameter, which would be allocated for small answers, too
		p.answers.Put(&kept)
	}
}
