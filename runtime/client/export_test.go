package client

import (
	"context"
	"unsafe"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Program is a transport that can be opened again and again, as that of a child process, without one.
func Program(start func() (rpc.Conn, error)) Transport { return program(start) }

// InFlight is how many requests the session keeps track of, in both directions.
func InFlight(s *Session) int { return s.tracker.Len() }

// Waiting is how many questions wait until somebody follows their tasks.
func Waiting(s *Session) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unasked
}

// KeptAnswers is how many answers the session keeps that are not being sent, and how much memory their questions, under each id, and answers take.
func KeptAnswers(s *Session) (number, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[*byte]bool{}
	for _, a := range s.answers {
		if !a.isSent() {
			continue
		}
		texts := [][]byte{a.question.Params, a.result}
		for _, r := range a.recipients {
			texts = append(texts, r.Params)
		}
		for _, text := range texts {
			if p := unsafe.SliceData(text); !seen[p] {
				seen[p], bytes = true, bytes+len(text)
			}
		}
		number++
	}
	return number, bytes
}

// LeftBytes is how many bytes of a server's texts the session keeps of tasks that nobody follows any more.
func LeftBytes(s *Session) (bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.left {
		bytes += f.size()
	}
	return bytes
}

type program func() (rpc.Conn, error)

func (p program) reopens() bool { return true }

func (p program) open(_ context.Context, s *Session) (link, error) {
	conn, err := p()
	if err != nil {
		return nil, &TransportError{Err: err}
	}
	return newConnLink(s, conn, nil), nil
}

// LostMeanwhile is an option of a call whose session is lost after the call has begun, and before its request is registered.
func LostMeanwhile(s *Session, err error) CallOption {
	return func(*callConfig) { s.lose(err) }
}
