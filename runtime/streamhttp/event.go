package streamhttp

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// comment keeps a silent stream open, and shows when the client is gone.
const comment = ":\n\n"

// missedComment is for a person who reads the stream: the protocol has no message for events that are not kept any more.
const missedComment = ": messages after Last-Event-ID are not kept any more\n\n"

// appendEvent appends frame as one event; a zero id is left out.
func appendEvent(b []byte, id eventID, frame []byte) []byte {
	b = appendEventHead(b, id)
	from := len(b)
	b = append(b, frame...)
	oneLine(b[from:])
	return append(b, eventTail...)
}

func appendEventHead(b []byte, id eventID) []byte {
	if id.stream != 0 {
		b = append(b, "id: "...)
		b = id.appendTo(b)
		b = append(b, '\n')
	}
	return append(b, eventHead...)
}

// oneLine replaces line breaks by spaces: in JSON they are only between tokens.
func oneLine(b []byte) {
	if bytes.IndexByte(b, '\n') < 0 && bytes.IndexByte(b, '\r') < 0 {
		return
	}
	for i := range b {
		if b[i] == '\n' || b[i] == '\r' {
			b[i] = ' '
		}
	}
}

// The text around the frame of an event.
const (
	eventHead = "event: message\ndata: "
	eventTail = "\n\n"
)

// appendPriming appends the event that gives the client, before the first message, an id after which it can resume, and
// how soon it should try.
func appendPriming(b []byte, id eventID, retry time.Duration) []byte {
	b = append(b, "id: "...)
	b = id.appendTo(b)
	b = append(b, "\nretry: "...)
	b = strconv.AppendInt(b, retry.Milliseconds(), 10)
	return append(b, "\ndata: \n\n"...)
}

// eventID is the place of an event within a session: its stream and its number there. Number 0 is the priming event.
type eventID struct {
	stream   uint64 // from 1
	number   int
	listener bool // of a stream that belongs to no request
	// request is the id of the request that the stream answers, so that a process that does not know the stream can answer it, too; zero: none, several,
	// or too long.
	request rpc.ID
}

// maxRequest is how long the id of a request may be to be in the ids of events, in bytes.
const maxRequest = 64

func (e eventID) appendTo(b []byte) []byte {
	kind := byte('r')
	if e.listener {
		kind = 'l'
	}
	b = strconv.AppendUint(append(b, kind), e.stream, 10)
	b = strconv.AppendInt(append(b, '.'), int64(e.number), 10)
	if e.request.IsZero() {
		return b
	}
	var room [maxRequest + 2]byte
	return base64.RawURLEncoding.AppendEncode(append(b, '.'), e.request.AppendJSON(room[:0]))
}

// parseEventID is the reverse of appendTo. ok is false for what appendTo does not write.
func parseEventID(text string) (e eventID, ok bool) {
	if text == "" || text[0] != 'r' && text[0] != 'l' || len(text) > 40+9*maxRequest {
		return e, false
	}
	first, rest, _ := strings.Cut(text[1:], ".")
	second, third, _ := strings.Cut(rest, ".")
	stream, err := strconv.ParseUint(first, 10, 64)
	number, err2 := strconv.ParseUint(second, 10, 31)
	e = eventID{stream: stream, number: int(number), listener: text[0] == 'l'}
	if token, bad := base64.RawURLEncoding.DecodeString(third); bad == nil && third != "" {
		e.request, _ = rpc.ParseID(token)
	}
	return e, err == nil && err2 == nil && stream != 0 && string(e.appendTo(nil)) == text
}
