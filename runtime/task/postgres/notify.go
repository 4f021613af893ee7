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

// Notifications are hints: whoever gets one reads again, and whoever misses one finds out by a poll. A notification is a letter from one
// store to the others: the name of the sender, then ids, each after what is said about it.

const notify = "SELECT pg_notify($1, $2)"

// hint is what is said of a task.
type hint byte

const (
	changedHint hint = '='
	waitsHint   hint = '+' // for somebody to run it
)

const (
	// newsPause is how long changes are collected before other processes are told of them.
	newsPause = 5 * time.Millisecond
	// maxLetter is how long a notification may be; Postgres allows 8,000 bytes.
	maxLetter = 7900
	// listenCheck is after how long without a notification the connection is tried.
	listenCheck = 15 * time.Second
)

// news are the changes that other processes have not been told of.
type news struct {
	mu     sync.Mutex
	hints  map[string]hint
	signal chan struct{}
}

func (n *news) init() { n.hints, n.signal = map[string]hint{}, make(chan struct{}, 1) }

func (n *news) add(id string, h hint) {
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

// take returns the ids by what is said of them.
func (n *news) take() map[hint][]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := map[hint][]string{}
	for id, h := range n.hints {
		taken[h] = append(taken[h], id)
	}
	clear(n.hints)
	return taken
}

// letters are notifications about tasks. An id that no letter has room for is left to the polls.
func (s *Store) letters(ids []string, h hint) (all []string) {
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			all = append(all, b.String())
			b.Reset()
		}
	}
	for _, id := range ids {
		word := string(h) + base64.RawURLEncoding.EncodeToString([]byte(id))
		if len(s.sender)+1+len(word) > maxLetter {
			continue
		}
		if b.Len()+1+len(word) > maxLetter {
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

// tellAll tells other processes what has changed, a few times a second at most, and once more at the end.
func (s *Store) tellAll() {
	for {
		select {
		case <-s.news.signal:
			_ = rest(s.base, newsPause)
			s.tell(s.base)
		case <-s.base.Done():
			s.tell(context.Background())
			return
		}
	}
}

func (s *Store) tell(ctx context.Context) {
	var q pgx.Batch
	for h, ids := range s.news.take() {
		for _, text := range s.letters(ids, h) {
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

// listen hears what other processes tell, on a connection of its own, which it makes again when it breaks.
func (s *Store) listen() {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		heard, err := s.hear()
		if s.base.Err() != nil {
			return
		}
		s.log.Warn("postgres: the connection for notifications broke; asking instead", "error", err)
		if heard {
			pause = firstPause
		}
		if rest(s.base, pause) != nil {
			return
		}
	}
}

// hear listens on one connection until it breaks.
func (s *Store) hear() (heard bool, err error) {
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
			s.heard(n.Payload)
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

// heard reads a letter. One from this store says nothing new.
func (s *Store) heard(text string) {
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
		s.follow.offers.tell("")
	}
}
