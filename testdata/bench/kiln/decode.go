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

func decode[T any](data []byte, into func(*check.Decoder, *T)) (*T, error) {
	v := new(T)
	err := check.Decode(data, check.Limits{}, into, v)
	return v, err
}
