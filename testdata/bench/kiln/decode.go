package kiln

import (
	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// The generated decoders, for the benchmarks.

func DecodePlaceOrder(data []byte) (*PlaceOrderInput, error) {
	return decode(data, decodePlaceOrderInput)
}

func DecodeBookTrip(data []byte) (*BookTripInput, error) { return decode(data, decodeBookTripInput) }

func DecodeImportRecords(data []byte) (*ImportRecordsInput, error) {
	return decode(data, decodeImportRecordsInput)
}

// ReadCallTool and ReadCancelled read whole messages as the server's read loop does.
func ReadCallTool(frame []byte) (server.Params, error) { return read(frame, readCallTool20251125) }

func ReadCancelled(frame []byte) (server.Params, error) { return read(frame, readCancelled20251125) }

func read(frame []byte, params func(*check.Decoder, *server.Params)) (p server.Params, err error) {
	msg, refused := rpc.Parse(frame, check.Limits{})
	if refused != nil {
		return p, refused
	}
	err = check.DecodeScanned(msg.Params, check.Limits{}, params, &p)
	return p, err
}

// Answer is a response to a call of place_order. Meta aliases the message.
type Answer struct {
	ID      rpc.ID
	Content []ContentBlock
	Output  *PlaceOrderOutput
	IsError bool
	Meta    []byte
}

// ReadAnswer reads such a response with what is generated for each part: the result's reader, the decoder of content
// blocks, the decoder of the tool's output.
func ReadAnswer(frame []byte) (*Answer, error) {
	msg, refused := rpc.Parse(frame, check.Limits{})
	if refused != nil {
		return nil, refused
	}
	var r server.CallResult
	if err := check.DecodeScanned(msg.Result, check.Limits{}, readCallResult20251125, &r); err != nil {
		return nil, err
	}
	a := &Answer{ID: msg.ID, IsError: r.IsError, Meta: r.Meta}
	if err := check.DecodeScanned(r.Content, check.Limits{}, decodeContent, &a.Content); err != nil {
		return nil, err
	}
	if r.StructuredContent == nil {
		return a, nil
	}
	a.Output = new(PlaceOrderOutput)
	return a, check.DecodeScanned(r.StructuredContent, check.Limits{}, decodePlaceOrderOutput, a.Output)
}

func decodeContent(d *check.Decoder, v *[]ContentBlock) { *v = check.List(d, nil, decodeContentBlock) }

func decode[T any](data []byte, into func(*check.Decoder, *T)) (*T, error) {
	v := new(T)
	err := check.Decode(data, check.Limits{}, into, v)
	return v, err
}
