package task

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"hash/maphash"
)

// cursors makes and opens list cursors: the place in an owner's list and a keyed hash of the owner, encrypted as one AES
// block. A cursor that was guessed, changed or made for another owner decrypts to another hash, except one in 2⁶⁴, and is
// refused (TSK16, TSK17). A MAC would do as well, but takes a hundred times as long: a third of a page's time.
type cursors struct {
	block cipher.Block
	seed  maphash.Seed
}

// cursorSize is the block and its base64.
const cursorSize, cursorChars = aes.BlockSize, 22

func newCursors() cursors {
	var key [16]byte
	rand.Read(key[:]) // never fails: it ends the process instead
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // only for other key sizes
	}
	return cursors{block, maphash.MakeSeed()}
}

func (c *cursors) make(owner string, seq uint64) string {
	b := make([]byte, cursorSize)
	binary.BigEndian.PutUint64(b, seq)
	binary.BigEndian.PutUint64(b[8:], maphash.String(c.seed, owner))
	c.block.Encrypt(b, b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// open returns the place of a cursor; "" is the beginning.
func (c *cursors) open(owner, cursor string) (uint64, error) {
	if cursor == "" {
		return 0, nil
	}
	if len(cursor) != cursorChars {
		return 0, ErrCursor
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) != cursorSize {
		return 0, ErrCursor
	}
	c.block.Decrypt(b, b)
	if binary.BigEndian.Uint64(b[8:]) != maphash.String(c.seed, owner) {
		return 0, ErrCursor
	}
	return binary.BigEndian.Uint64(b), nil
}
