package rpc

import (
	"strconv"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// AppendJSON appends the id as JSON: a number in its own spelling, the zero ID as null.
func (id ID) AppendJSON(b []byte) []byte {
	switch id.kind {
	case idInt:
		if id.text != "" {
			return append(b, id.text...)
		}
		return strconv.AppendInt(b, id.num, 10)
	case idBig:
		return append(b, id.text...)
	case idString:
		return check.AppendString(b, id.text)
	default:
		return append(b, "null"...)
	}
}

// String returns the id as JSON, for logs.
func (id ID) String() string { return string(id.AppendJSON(nil)) }

// AppendRequest appends a request. params is one JSON object, or empty for none.
func AppendRequest(b []byte, id ID, method string, params []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = id.AppendJSON(b)
	b = append(b, ',')
	return appendCall(b, method, params)
}

// AppendNotification appends a notification. params is one JSON object, or empty for none.
func AppendNotification(b []byte, method string, params []byte) []byte {
	return appendCall(append(b, `{"jsonrpc":"2.0",`...), method, params)
}

// AppendCall appends an object with a method and its params alone, as the input requests in a result are written (EXT17).
func AppendCall(b []byte, method string, params []byte) []byte {
	return appendCall(append(b, '{'), method, params)
}

func appendCall(b []byte, method string, params []byte) []byte {
	b = append(b, `"method":`...)
	b = check.AppendString(b, method)
	if len(params) > 0 {
		b = append(b, `,"params":`...)
		b = append(b, params...)
	}
	return append(b, '}')
}

// AppendResult appends the answer to id. result is one JSON value; empty stands for the empty object.
func AppendResult(b []byte, id ID, result []byte) []byte {
	b = AppendResultHead(b, id)
	if len(result) == 0 {
		result = []byte("{}")
	}
	b = append(b, result...)
	return append(b, '}')
}

// AppendResultHead appends an answer up to the value of its result, so that the value can be encoded in place: append the value, then '}'.
func AppendResultHead(b []byte, id ID) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = id.AppendJSON(b)
	return append(b, `,"result":`...)
}

// AppendError appends an error answer. For the zero ID it has no id: JSON-RPC has null there, but
// every revision's schema allows a string, an integer or nothing, and clients that validate refuse null.
func AppendError(b []byte, id ID, err *Error) []byte {
	b = append(b, `{"jsonrpc":"2.0"`...)
	if !id.IsZero() {
		b = append(b, `,"id":`...)
		b = id.AppendJSON(b)
	}
	b = append(b, `,"error":`...)
	b = AppendErrorObject(b, err)
	return append(b, '}')
}

// AppendErrorObject appends the value of the member error of an error answer.
func AppendErrorObject(b []byte, err *Error) []byte {
	b = append(b, `{"code":`...)
	b = strconv.AppendInt(b, int64(err.Code), 10)
	b = append(b, `,"message":`...)
	b = check.AppendString(b, err.Message)
	if len(err.Data) > 0 {
		b = append(b, `,"data":`...)
		b = append(b, err.Data...)
	}
	return append(b, '}')
}

// AppendErrors appends a batch of answers with the same error, one for each id.
func AppendErrors(b []byte, ids []ID, err *Error) []byte {
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendError(b, id, err)
	}
	return append(b, ']')
}
