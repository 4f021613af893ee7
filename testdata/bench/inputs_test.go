package bench

import (
	"encoding/json"
	"fmt"
)

const (
	cancelledMessage = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"not needed"}}`
	resultMessage    = `{"jsonrpc":"2.0","id":7,"result":{"content":[` +
		`{"type":"text","text":"Order 4711 is in the book: 100 ACME to buy at 12.50 or less, at the open."},` +
		`{"type":"resource_link","uri":"https://orders.example/4711","name":"order-4711","description":"The order as it stands","mimeType":"application/json"}],` +
		`"structuredContent":{"accepted":true},"isError":false,"_meta":{"example.com/trace":"00-4bf92f3577b34da6-00f067aa0ba902b7-01"}}}`
)

// The types that the libraries decode into.

type plainTrip struct {
	ID        string `json:"id"`
	Traveller struct {
		Name  string   `json:"name"`
		Email string   `json:"email"`
		Born  string   `json:"born"`
		Tags  []string `json:"tags"`
	} `json:"traveller"`
	Legs []struct {
		From    string  `json:"from"`
		To      string  `json:"to"`
		Departs string  `json:"departs"`
		Price   float64 `json:"price"`
		Seat    any     `json:"seat"`
	} `json:"legs"`
	Note *string `json:"note"`
}

type plainRecords struct {
	Records []struct {
		ID     int64   `json:"id"`
		Name   string  `json:"name"`
		Score  float64 `json:"score"`
		Active bool    `json:"active"`
		Kind   string  `json:"kind"`
	} `json:"records"`
}

type plainMessage struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		RequestID json.RawMessage `json:"requestId"`
		Reason    string          `json:"reason"`
	} `json:"params"`
}

type plainResult struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  struct {
		Content []struct {
			Type        string  `json:"type"`
			Text        string  `json:"text"`
			URI         string  `json:"uri"`
			Name        string  `json:"name"`
			Description *string `json:"description"`
			MIMEType    *string `json:"mimeType"`
		} `json:"content"`
		StructuredContent sdkReceipt      `json:"structuredContent"`
		IsError           bool            `json:"isError"`
		Meta              json.RawMessage `json:"_meta"`
	} `json:"result"`
}

// trip is a nested input; nine legs make about 2 kB.
func trip(legs int) []byte {
	b := []byte(`{"id":"6f1c2b9e-8d44-4c1f-9b62-0d9a5a3f7e10","traveller":{"name":"Ada Lovelace","email":"ada@example.com","born":"1815-12-10","tags":["window","vegetarian","frequent"]},"legs":[`)
	for i := range legs {
		if i > 0 {
			b = append(b, ',')
		}
		seat := `"12A"`
		if i%2 == 1 {
			seat = `{"row":31,"letter":"F"}`
		}
		b = fmt.Appendf(b, `{"from":"ZRH","to":"LIS","departs":"2026-11-%02dT08:15:00+01:00","price":%d.5,"seat":%s,"remark":"the quick brown fox jumps over the lazy dog and looks for a seat; nobody checks this text, it only has to be read to its end"}`, i+1, 100+i, seat)
	}
	return append(b, `],"note":null}`...)
}

// records is an array of n records of about 85 bytes.
func records(n int) []byte {
	b := []byte(`{"records":[`)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"id":%d,"name":"record number %d","score":%d.25,"active":true,"kind":"medium"}`, i+1, i+1, i%100)
	}
	return append(b, `]}`...)
}
