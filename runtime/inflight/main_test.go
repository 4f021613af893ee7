package inflight

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func incoming(peer uint64, id int64) Key { return Key{Peer: peer, ID: rpc.IntID(id)} }

func register(t testing.TB, tr *Tracker, key Key, info Info) *Entry {
	t.Helper()
	e, err := tr.Register(context.Background(), key, info)
	if err != nil {
		t.Fatalf("Register(%v): %v", key, err)
	}
	return e
}

func mustID(t testing.TB, token string) rpc.ID {
	t.Helper()
	id, err := rpc.ParseID([]byte(token))
	if err != nil {
		t.Fatalf("ParseID(%s): %v", token, err)
	}
	return id
}
