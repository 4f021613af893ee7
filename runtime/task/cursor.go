package task

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
)

// Cursors makes and opens list cursors: the place in an owner's list and a keyed hash of the owner, encrypted as one AES
// block. A cursor that was guessed, changed or made for another owner decrypts to another hash, except one in 2⁶⁴, and is
// refused (TSK16, TSK17). Processes with the same key open each other's cursors. A MAC of the standard library would do as well, but takes a
// hundred times as long: a third of a page's time.
type Cursors struct{ block, hash cipher.Block }

// cursorChars is the base64 of a block.
const cursorChars = 22

// CursorKey is the size of the key of Cursors, in bytes.
const CursorKey = 32

// NewCursors returns the cursors of a key.
func NewCursors(key [CursorKey]byte) Cursors {
	return Cursors{newBlock(key[:16]), newBlock(key[16:])}
}

func newBlock(key []byte) cipher.Block {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only for other key sizes
	}
	return block
}

// randomCursors returns cursors of a random key.
func randomCursors() Cursors {
	var key [CursorKey]byte
	rand.Read(key[:]) // never fails: it ends the process instead
	return NewCursors(key)
}

// Make returns the cursor of a place in the owner's list.
func (c *Cursors) Make(owner string, seq uint64) string {
	b := make([]byte, 2*aes.BlockSize)
	sum := c.hashOf(owner, b[aes.BlockSize:])
	b = b[:aes.BlockSize]
	binary.BigEndian.PutUint64(b, seq)
	binary.BigEndian.PutUint64(b[8:], sum)
	c.block.Encrypt(b, b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// Open returns the place of a cursor; "" is the beginning. Error: ErrCursor.
func (c *Cursors) Open(owner, cursor string) (uint64, error) {
	if cursor == "" {
		return 0, nil
	}
	if len(cursor) != cursorChars {
		return 0, ErrCursor
	}
	buffer := make([]byte, 2*aes.BlockSize)
	b := buffer[:aes.BlockSize]
	if n, err := base64.RawURLEncoding.Strict().Decode(b, []byte(cursor)); err != nil || n != len(b) {
		return 0, ErrCursor
	}
	c.block.Decrypt(b, b)
	if binary.BigEndian.Uint64(b[8:]) != c.hashOf(owner, buffer[aes.BlockSize:]) {
		return 0, ErrCursor
	}
	return binary.BigEndian.Uint64(b), nil
}

// hashOf returns the keyed hash of an owner: CBC-MAC with the length before the text, so that no owner is the beginning of another. sum is a
// block of zeros to work in.
func (c *Cursors) hashOf(owner string, sum []byte) uint64 {
	binary.BigEndian.PutUint64(sum, uint64(len(owner)))
	c.hash.Encrypt(sum, sum)
	for len(owner) > 0 {
		n := min(len(owner), aes.BlockSize)
		for i := range n {
			sum[i] ^= owner[i]
		}
		c.hash.Encrypt(sum, sum)
		owner = owner[n:]
	}
	return binary.BigEndian.Uint64(sum)
}
