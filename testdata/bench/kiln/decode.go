package kiln

import (
	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// The generated decoders, for the benchmarks.

func DecodePlaceOrder(data []byte) (*PlaceOrderInput, error) {
	return decode(data, decodePlaceOrderInput)
}

func DecodeBookTrip(data []byte) (*BookTripInput, error) { return decode(data, decodeBookTripInput) }

func DecodeImportRecords(data []byte) (*ImportRecordsInput, error) {
	return decode(data, decodeImportRecordsInput)
}

func DecodeKeepDocument(data []byte) (*KeepDocumentInput, error) {
	return decode(data, decodeKeepDocumentInput)
}

func DecodeByKind(data []byte) (*ByKindInput, error) { return decode(data, decodeByKindInput) }

func DecodeByTag(data []byte) (*ByTagInput, error) { return decode(data, decodeByTagInput) }

func DecodeByMembers(data []byte) (*ByMembersInput, error) { return decode(data, decodeByMembersInput) }

func DecodeByTrial(data []byte) (*ByTrialInput, error) { return decode(data, decodeByTrialInput) }

// Params reads the params of requests and notifications as the server's read loop does: while the frame is taken apart, into
// memory that is used again.
type Params struct {
	wire.Params
	as  func(*check.Decoder, *wire.Params)
	err error
}

// ForCallTool and ForCancelled read one kind of message each.
func ForCallTool() *Params  { return &Params{as: readCallTool20251125} }
func ForCancelled() *Params { return &Params{as: readCancelled20251125} }

// Read reads one message. Params alias it.
func (p *Params) Read(frame []byte) error {
	p.Params, p.err = wire.Params{}, nil
	if _, refused := rpc.ParseInto(frame, check.Limits{}, p); refused != nil {
		return refused
	}
	return p.err
}

func (p *Params) ReadParams(d *check.Decoder, _ []byte) bool {
	p.err = check.Within(d, p.as, &p.Params)
	return true
}

func (p *Params) ReadResult(*check.Decoder, rpc.ID) bool { return false }

// Answer is a response to a call of place_order. Meta aliases the message.
type Answer struct {
	ID      rpc.ID
	Content []ContentBlock
	Output  *PlaceOrderOutput
	IsError bool
	Meta    []byte

	err error
}

// ReadAnswer reads such a response on the way, too, with what is generated for each part of it.
func ReadAnswer(frame []byte) (*Answer, error) {
	a := new(Answer)
	msg, refused := rpc.ParseInto(frame, check.Limits{}, a)
	if refused != nil {
		return nil, refused
	}
	a.ID = msg.ID
	return a, a.err
}

func (a *Answer) ReadParams(*check.Decoder, []byte) bool { return false }

func (a *Answer) ReadResult(d *check.Decoder, _ rpc.ID) bool {
	a.err = check.Within(d, readAnswer, a)
	return true
}

var answerResult = check.Object{
	Names: []string{"content", "isError", "structuredContent", "_meta"}, Required: []string{"content"}, AdditionalProperties: check.Skip,
}

func readAnswer(d *check.Decoder, a *Answer) {
	for f := d.Object(&answerResult); f >= 0; f = d.Next() {
		switch f {
		case 0:
			a.Content = check.List(d, nil, decodeContentBlock)
		case 1:
			a.IsError = d.Bool(nil)
		case 2:
			a.Output = check.New(d, decodePlaceOrderOutput)
		case 3:
			a.Meta = d.Alias(nil)
		}
	}
}

func decode[T any](data []byte, into func(*check.Decoder, *T)) (*T, error) {
	v := new(T)
	err := check.Decode(data, check.Limits{}, into, v)
	return v, err
}
