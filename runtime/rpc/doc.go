// Package rpc is JSON-RPC 2.0 as MCP uses it: ids, messages, and connections that carry whole frames. To serve over stdio
// use Stdio, to write a transport implement Conn, in handlers return Error; the rest is for those who change how frames are read and written.
// Ids such as VAL07 are rules; testdata/traceability/ledger.tsv lists them.
//
// # Map
//
//   - id.go: ID, compared by JSON type and exact value (CAN05)
//   - parse.go, message.go: Parse splits a frame into its members, ParseInto also has its params or result decoded in the same pass; text.go: strings;
//     batch.go: arrays of messages; rescue.go finds the id in frames that are refused, skim.go in those that are too large; quote.go: texts of a peer,
//     in messages to it and in logs
//   - append.go: Append* write messages; error.go: Error and its codes
//   - conn.go: Conn, the contract of a connection; lines.go reads frames that are lines, linewriter.go writes them, line.go escapes what would end a
//     line; copyframe.go: frames that are not in memory; prompt_*.go: writing to a pipe without waiting; stdio*.go: this process's standard streams;
//     pipe.go: two ends within a process
//
// # Words of this package
//
//	frame       the bytes of one message, or of a batch, as a connection carries them
//	answer      a response of JSON-RPC: a result or an error
//	envelope    the members of a message that JSON-RPC defines
//	spelling    how a JSON value is written: 1 and 1.0 are two spellings of one id
//	accepted    of a frame: it has its place in the order and will be written, unless the connection fails
//	pending     accepted and not yet written; a writer whose frame does not fit into the pending ones waits in the backlog
//	write role  what the one goroutine has that writes to a connection now
//	lent        of a frame: written from the buffer that its caller has it in
//	plain       of a frame: it can be a line as it is; of a string: the text between its quotes is its value
//	to rescue   to read the kind and the id of a frame that is refused; to skim is to keep what that needs of a frame that is thrown away
//
// # Contracts
//
// The caller of ReadFrame owns the frame's bytes, and a Message aliases them: copy what outlives the buffer. IDs never alias.
//
// WriteFrame returns when the frame has its place in the order, which may be before it is written: a goroutine that is already writing
// writes it, too. Waiting for that would park every writer under load once per frame, and would promise little: a frame that the operating
// system accepted may still never reach the peer. Close waits for accepted frames to be written, up
// to CloseWait. A write that fails is reported by the call that wrote, every later one, and Close.
//
// The goroutine that writes (it has the write role) goes on until nothing is pending, so under load it writes for the others. It is mostly at
// the end of a request, with nothing else to do. To pass the role on, another goroutine would have to wait for it.
//
// A Conn that is Watched reports when its peer stops reading. For pipes and sockets on Linux it gets that event from an epoll
// descriptor, which the Go runtime polls like any other, so no thread waits.
//
// Params must be an object. JSON-RPC also allows arrays, MCP never; null is refused as well, because the sender
// meant something that was not sent. Repeated keys are refused everywhere in a frame: otherwise two
// readers of one frame may see different values (VAL07). The refusal of a request carries its id, unless the id itself is repeated.
//
// The kind and the id of a frame over the limit are read while it is thrown away (skim.go), also if the id is its last member. So the request that
// waits for this answer, or the peer that sent this request, gets an error.
//
// # Rejected
//
//   - encoding/json for envelopes: two passes, and ids through float64 or json.Number. BenchmarkParse compares it with Parse.
//   - A goroutine that writes, fed by a channel: one more goroutine switch per frame; see BenchmarkLinesWrite.
//   - json.RawMessage as the id: "1" and "\u0031" would differ, and each use as the key of a map would be an allocation.
//   - Standard input as it is: closing an *os.File in blocking mode does not end its Read, so serving could never stop
//     while the peer is silent. Hence the polled copy of the descriptor, and a goroutine that is left behind where there is
//     no polling.
//   - Standard output as it is: what handlers print would break the frames. So frames are written through a copy of the descriptor, and descriptor 1
//     is diverted to standard error.
//   - Non-blocking standard output: the mode is shared with standard error when both are one pipe, and with the parent processes that
//     passed it on, whose writes would fail.
//   - net.Pipe for Pipe: unbuffered, so each frame costs both sides a goroutine switch.
package rpc
