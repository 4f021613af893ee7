package server

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"reflect"
	"sync/atomic"
)

// Opener opens data that is too large to be held in memory. It is called when the answer is about to be written, while the context of the
// call lasts, and again if the block or resource is sent again. What it returns is closed in any case; Close may be called while Read
// blocks, to end it. An error or a panic makes the answer an internal error.
//
// Over HTTP in a stateless revision the data goes from the reader to the client a piece at a time. An answer that has begun is completed,
// or its connection ends, if a read fails, the call is cancelled or times out, or the server stops. The time that the client
// takes to read does not count for the timeout of the call.
//
// Everywhere else an answer begins when all of it is there: the data is first put into a temporary file, which is always removed, and copied to the
// client from there, so it may be of any size. On a newline-framed connection, such as standard input and output, later messages wait until the
// client has read it. Over HTTP in sessions a client that lost its connection within the answer gets the answer again from its beginning, as long as
// it was never written to its end, and no other answer waits for the space of its file.
//
// The result of a task, and a result that middleware reads (MessageResult.JSON), has to be in memory: the data stays in the file until there is room
// for it in the budget of unread answers. A result that middleware reads may have half of WithMaxBytesUnread, the result of a task as much as
// WithTaskLimits allows; a larger one becomes an error that says so.
type Opener func() (io.ReadCloser, error)

// FileOf opens a file of a file system.
func FileOf(files fs.FS, name string) Opener {
	return func() (io.ReadCloser, error) { return files.Open(name) }
}

// ReaderOf reads from r, once: the block or resource that has it can be sent once. If r is an io.Closer, it is closed, even if r is never read because
// the answer fails or the call ends before (unless an Opener of your own wraps this one).
//
//go:noinline
func ReaderOf(r io.Reader) Opener {
	var opened atomic.Bool
	return func() (io.ReadCloser, error) {
		if opened.Swap(true) {
			return nil, errors.New("server: a reader is read once: make a new one, or an Opener, for each answer")
		}
		if c, ok := r.(io.ReadCloser); ok {
			return c, nil
		}
		return io.NopCloser(r), nil
	}
}

// readerOf is the code pointer of the functions that ReaderOf returns. All have the same one, as long as ReaderOf is not inlined.
var readerOf = reflect.ValueOf(ReaderOf(nil)).Pointer()

// hasReader reports whether ReaderOf has made the Opener: then there is something to close before it is called.
func (o Opener) hasReader() bool { return reflect.ValueOf(o).Pointer() == readerOf }

// closeUnopened closes the reader of an Opener that ReaderOf has made, unless it was opened before.
func (o Opener) closeUnopened(log *slog.Logger) {
	defer logPanics(log)
	if !o.hasReader() {
		return
	}
	if data, err := o(); err == nil {
		_ = data.Close()
	}
}

// noteReader has the request close the reader of an Opener that its handler gave, whatever becomes of the answer: as soon as the answer needs none of its
// data any more, and when the request ends at the latest (closeReaders).
func (r *request) noteReader(open Opener) {
	if open.hasReader() {
		if r.readers == nil {
			r.readers = new([]Opener)
		}
		*r.readers = append(*r.readers, open)
	}
}

func (r *request) noteReaders(blocks []Block) {
	for i := range blocks {
		r.noteReader(blocks[i].open)
	}
}

// closeReaders closes the readers that were not opened.
func (r *request) closeReaders() {
	if r.readers == nil || len(*r.readers) == 0 {
		r.readers = nil
		return
	}
	defer r.closeReaders() // of the others, also when this one ends the goroutine
	open := (*r.readers)[0]
	*r.readers = (*r.readers)[1:]
	open.closeUnopened(r.log())
}

// ImageFrom is Image with the data that open gives.
func ImageFrom(mimeType string, open Opener) Block { return Image(mimeType, nil).from(open) }

// AudioFrom is Audio with the data that open gives.
func AudioFrom(mimeType string, open Opener) Block { return Audio(mimeType, nil).from(open) }

// TextResourceFrom is TextResource with the text that open gives, in UTF-8: invalid bytes become U+FFFD.
func TextResourceFrom(uri, mimeType string, open Opener) Block {
	return TextResource(uri, mimeType, "").from(open)
}

// BlobResourceFrom is BlobResource with the bytes that open gives.
func BlobResourceFrom(uri, mimeType string, open Opener) Block {
	return BlobResource(uri, mimeType, nil).from(open)
}

// TextFrom is the text that open gives, in UTF-8: invalid bytes become U+FFFD.
func TextFrom(open Opener) *ResourceContents {
	return &ResourceContents{[]ResourcePart{{TextFrom: open}}}
}

// BlobFrom are the bytes that open gives.
func BlobFrom(open Opener) *ResourceContents {
	return &ResourceContents{[]ResourcePart{{BlobFrom: open}}}
}

func (b Block) from(open Opener) Block {
	if open == nil {
		return b.fail("nothing opens the data of a block of kind %s", b.kind)
	}
	b.open = open
	return b
}
