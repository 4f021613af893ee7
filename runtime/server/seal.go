package server

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// sealer makes and opens the state that a client carries between two tries of a call (EXT17). Tokens are the version, a
// hint at the key, a nonce and AES-256-GCM over expiry and record; what the token is bound to is authenticated with it and
// not in it.
type sealer struct{ keys []sealKey } // the first one seals

type sealKey struct {
	hint [4]byte
	aead cipher.AEAD
}

const sealVersion = 1

// maxState bounds a token, in bytes: a client sends it back with every try.
const maxState = 1 << 20

var (
	errState      = errors.New("requestState: it was changed, or belongs to another call")
	errStateOld   = errors.New("requestState: it has expired: call again without it")
	errStateLarge = fmt.Errorf("what the call has recorded takes more than %d bytes of request state", maxState)
)

// newSealer makes a sealer of keys, or of a random key if there are none.
func newSealer(keys [][]byte) (*sealer, error) {
	if len(keys) == 0 {
		keys = [][]byte{[]byte(rand.Text())}
	}
	s := new(sealer)
	for _, k := range keys {
		if len(k) < 16 {
			return nil, errors.New("server: a seal key needs at least 16 bytes")
		}
		key := sha256.Sum256(append([]byte("mcpkiln request state key\x00"), k...))
		block, err := aes.NewCipher(key[:])
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		hint := sha256.Sum256(append([]byte("mcpkiln request state hint\x00"), k...))
		s.keys = append(s.keys, sealKey{[4]byte(hint[:4]), aead})
	}
	return s, nil
}

// minSealText is the least length of a key in a file or variable: 24 random bytes in base64.
const minSealText = 32

// ParseSealKeys reads keys for WithSealKeys from a file or an environment variable, so that a retry is good for another process, too
// (LET18): one key a line, the newest first, each of at least 32 characters, such as openssl rand -base64 32 prints. Blank lines and
// those that begin with # are skipped. Errors name a line, never what it says.
func ParseSealKeys(text string) (keys [][]byte, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		key := strings.TrimSpace(line)
		switch {
		case key == "" || key[0] == '#':
		case len(key) < minSealText:
			return nil, fmt.Errorf("seal keys: line %d has %d characters, a key needs %d: make one with openssl rand -base64 32", n, len(key), minSealText)
		default:
			keys = append(keys, []byte(key))
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("seal keys: there is none: make one with openssl rand -base64 32")
	}
	return keys, nil
}

// sealedRecord is what a token holds.
type sealedRecord struct {
	Entries []sealedEntry `json:"notes,omitempty"`
	// Asked are the names of the questions that the last try asked.
	Asked []string `json:"asked,omitempty"`
	// Spare are answers that earlier tries asked for and did not use.
	Spare map[string]json.RawMessage `json:"spare,omitempty"`
}

// sealedEntry is one entry of a record. Question is the hash of the question, empty for a step.
type sealedEntry struct {
	Name     string `json:"name"`
	Question []byte `json:"question,omitempty"`
	Data     []byte `json:"data"`
}

// seal returns a token for state, good until expires and for the same binding.
func (s *sealer) seal(state *sealedRecord, binding []byte, expires time.Time) (string, error) {
	plain, err := json.Marshal(state)
	if err != nil {
		return "", err
	}
	plain = append(binary.BigEndian.AppendUint64(nil, uint64(expires.UnixMilli())), plain...)
	k := &s.keys[0]
	token := append([]byte{sealVersion}, k.hint[:]...)
	nonce := make([]byte, k.aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return "", err
	}
	token = k.aead.Seal(append(token, nonce...), nonce, plain, binding)
	if len(token) > maxState {
		return "", errStateLarge
	}
	return base64.RawURLEncoding.EncodeToString(token), nil
}

// open returns what a token holds. Every way of being wrong but age looks the same to the client.
func (s *sealer) open(token string, binding []byte, now time.Time) (*sealedRecord, error) {
	// The decoder passes over line ends, which would be a change that nobody notices.
	if len(token) > 2*maxState || strings.ContainsAny(token, "\r\n") {
		return nil, errState
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) < 5 || b[0] != sealVersion {
		return nil, errState
	}
	plain, err := s.decrypt(b[1:5], b[5:], binding)
	if err != nil || len(plain) < 8 {
		return nil, errState
	}
	if now.UnixMilli() >= int64(binary.BigEndian.Uint64(plain)) {
		return nil, errStateOld
	}
	state := new(sealedRecord)
	if json.Unmarshal(plain[8:], state) != nil {
		return nil, errState
	}
	return state, nil
}

func (s *sealer) decrypt(hint, b, binding []byte) ([]byte, error) {
	for i := range s.keys {
		k := &s.keys[i]
		if n := k.aead.NonceSize(); string(k.hint[:]) == string(hint) && len(b) > n {
			return k.aead.Open(nil, b[:n], b[n:], binding)
		}
	}
	return nil, errState
}

// binding is what a token is good for: one owner, method and target, with the same arguments in whichever order and spacing a
// client writes them again. Connections without an identity are one owner: no request needs the connection of an earlier one
// (LET18), and whoever has a token was given it.
func (r *request) binding() []byte {
	h := sha256.New()
	owner := r.p.owner
	if strings.HasPrefix(owner, ownedByConnection) {
		owner = ownedByNobody
	}
	for _, part := range [...]string{owner, r.method.Name, r.params.Name, r.params.URI, canonical(r.params.Arguments)} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	return h.Sum(nil)
}

// canonical is a JSON value with its members in order and without spacing; numbers keep their digits.
func canonical(raw []byte) string {
	d := json.NewDecoder(strings.NewReader(string(arguments(raw))))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}
