package task

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// cursors makes and opens list cursors: the place in an owner's list, authenticated together with the owner, so that
// one that was guessed, changed or made for somebody else is refused (TSK16, TSK17).
type cursors struct{ key [32]byte }

const (
	cursorTag  = 12 // bytes of the authentication tag
	cursorSize = 8 + cursorTag
)

func newCursors() (c cursors) {
	rand.Read(c.key[:]) // never fails: it ends the process instead
	return c
}

func (c *cursors) make(owner string, seq uint64) string {
	sealed := c.seal(owner, seq)
	return base64.RawURLEncoding.EncodeToString(sealed[:cursorSize])
}

// open returns the place of a cursor; "" is the beginning.
func (c *cursors) open(owner, cursor string) (uint64, error) {
	if cursor == "" {
		return 0, nil
	}
	var given [cursorSize]byte
	if len(cursor) != base64.RawURLEncoding.EncodedLen(cursorSize) {
		return 0, ErrCursor
	}
	if _, err := base64.RawURLEncoding.Strict().Decode(given[:], []byte(cursor)); err != nil {
		return 0, ErrCursor
	}
	seq := binary.BigEndian.Uint64(given[:])
	want := c.seal(owner, seq)
	if !hmac.Equal(given[:], want[:cursorSize]) {
		return 0, ErrCursor
	}
	return seq, nil
}

func (c *cursors) seal(owner string, seq uint64) []byte {
	var place [8]byte
	binary.BigEndian.PutUint64(place[:], seq)
	mac := hmac.New(sha256.New, c.key[:])
	mac.Write(place[:])
	mac.Write([]byte(owner))
	return mac.Sum(place[:8:8])
}
