package postgres

import (
	"context"
	"encoding/base64"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Notifications are hints: a store that gets one reads again, and one that misses it finds the change by a poll. The payload is the name of the
// sending store, and then ids, each after a byte that says what is hinted about it.

const notify = "SELECT pg_notify($1, $2)"

// hint is the kind of a hint about a task.
type hint byte

const (
	changedHint hint = '='
	waitsHint   hint = '+' // the task waits for a run
)

const (
	// sendPause is how long changes are collected before they are sent.
	sendPause = 5 * time.Millisecond
	// maxPayload is how long a payload may be; Postgres allows 8,000 bytes.
	maxPayload = 7900
	// listenCheck is the time without a notification after which the connection is checked.
	listenCheck = 15 * time.Second
)

// unsent are the hints that were not sent yet.
type unsent struct {
	mu     sync.Mutex
	hints  map[string]hint
	signal chan struct{}
}

func (n *unsent) init() { n.hints, n.signal = map[string]hint{}, make(chan struct{}, 1) }

func (n *unsent) add(id string, h hint) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hints[id] != waitsHint {
		n.hints[id] = h
	}
	select {
	case n.signal <- struct{}{}:
	default:
	}
}

// take returns the ids by their hints, and forgets them.
func (n *unsent) take() map[hint][]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := map[hint][]string{}
	for id, h := range n.hints {
		taken[h] = append(taken[h], id)
	}
	clear(n.hints)
	return taken
}

// payloads returns payloads of notifications about tasks. An id that is too long for one is left to the polls.
func (s *Store) payloads(ids []string, h hint) (all []string) {
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			all = append(all, b.String())
			b.Reset()
		}
	}
	for _, id := range ids {
		word := string(h) + base64.RawURLEncoding.EncodeToString([]byte(id))
		if len(s.sender)+1+len(word) > maxPayload {
			continue
		}
		if b.Len()+1+len(word) > maxPayload {
			flush()
		}
		if b.Len() == 0 {
			b.WriteString(s.sender)
		}
		b.WriteString(" " + word)
	}
	flush()
	return all
}

// sendAll sends hints to other processes until the store is closed, and once more then.
func (s *Store) sendAll() {
	for {
		select {
		case <-s.unsent.signal:
			_ = rest(s.base, sendPause)
			s.sendHints(s.base)
		case <-s.base.Done():
			s.sendHints(context.Background())
			return
		}
	}
}

func (s *Store) sendHints(ctx context.Context) {
	var q pgx.Batch
	for h, ids := range s.unsent.take() {
		for _, text := range s.payloads(ids, h) {
			q.Queue(notify, s.channel, text)
		}
	}
	if q.Len() == 0 {
		return
	}
	ctx, cancel := s.limited(context.WithoutCancel(ctx))
	defer cancel()
	if err := s.pool.SendBatch(ctx, &q).Close(); err != nil {
		s.log.Debug("postgres: others were not told of changes; they will find them by asking", "error", err)
	}
}

// listen receives notifications of other processes, on a connection of its own, which it makes again when it breaks.
func (s *Store) listen() {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		received, err := s.receiveAll()
		if s.base.Err() != nil {
			return
		}
		s.log.Warn("postgres: the connection for notifications broke; asking instead", "error", err)
		if received {
			pause = firstPause
		}
		if rest(s.base, pause) != nil {
			return
		}
	}
}

// receiveAll listens on one connection until it breaks. received: it did listen.
func (s *Store) receiveAll() (received bool, err error) {
	c, err := s.pool.Acquire(s.base)
	if err != nil {
		return false, err
	}
	conn := c.Hijack()
	defer conn.Close(context.Background())
	if err := s.check(conn, "LISTEN "+s.channel); err != nil {
		return false, err
	}
	for {
		ctx, cancel := context.WithTimeout(s.base, listenCheck)
		n, err := conn.WaitForNotification(ctx)
		cancel()
		switch {
		case err == nil:
			s.receive(n.Payload)
		case s.base.Err() != nil || !pgconn.Timeout(err):
			return true, err
		default:
			if err := s.check(conn, "SELECT"); err != nil {
				return true, err
			}
		}
	}
}

func (s *Store) check(conn *pgx.Conn, text string) error {
	ctx, cancel := s.limited(s.base)
	defer cancel()
	_, err := conn.Exec(ctx, text)
	return err
}

// receive reads a payload. One from this store has nothing new.
func (s *Store) receive(text string) {
	words := strings.Split(text, " ")
	if words[0] == s.sender {
		return
	}
	waits := false
	for _, word := range words[1:] {
		if id, err := base64.RawURLEncoding.DecodeString(word[min(1, len(word)):]); err == nil {
			s.follow.hinted(string(id))
		}
		waits = waits || strings.HasPrefix(word, string(waitsHint))
	}
	if waits {
		s.follow.offers.call("")
	}
}
