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

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// sealer seals and opens the requestState that a client carries between two runs of a call (EXT17). A token is the version,
// a hint at the key, a nonce, and the expiry and journal encrypted with AES-256-GCM; its binding (request.binding) is authenticated with them
// and not contained in the token.
type sealer struct{ keys []sealKey } // the first one seals

type sealKey struct {
	hint [4]byte
	aead cipher.AEAD
}

const sealVersion = 1

// maxState bounds a token, in bytes: a client sends it back with every run.
const maxState = 1 << 20

var (
	errState    = errors.New("it was changed, belongs to another call, or is of an earlier process or key: call again without it")
	errStateOld = errors.New("it has expired: call again without it")
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

// ParseSealKeys reads keys for WithSealKeys from a file or an environment variable, so that another process accepts a retry, too
// (LET18): one key a line, the newest first, each of at least 32 characters, such as openssl rand -base64 32 prints. Blank lines and
// those that begin with # are skipped. Errors contain the number of a line, never its text.
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

// sealedJournal is the content of a token.
type sealedJournal struct {
	Entries []recordedEntry `json:"notes,omitempty"`
	// Asked are the names of all questions that the runs so far asked.
	Asked []string `json:"asked,omitempty"`
	// Until has the deadlines of the questions that are not answered, in Unix milliseconds.
	Until map[string]int64 `json:"until,omitempty"`
	// Unused are answers that earlier runs asked for and did not use.
	Unused map[string]json.RawMessage `json:"spare,omitempty"`
}

// recordedEntry is one entry of a journal as it is stored. Question is the hash of the question, empty for a step.
type recordedEntry struct {
	Name     string `json:"name"`
	Question []byte `json:"question,omitempty"`
	Data     []byte `json:"data"`
}

// seal returns a token for state, valid until expires and with the same binding.
func (s *sealer) seal(state *sealedJournal, binding []byte, expires time.Time) (string, error) {
	plain, err := json.Marshal(state)
	if err != nil {
		return "", err
	}
	token := s.sealText(plain, binding, expires)
	if base64.RawURLEncoding.DecodedLen(len(token)) > maxState {
		return "", state.tooLarge()
	}
	return token, nil
}

// tooLarge is the error of a journal whose token would be longer than maxState. It names the largest part.
func (j *sealedJournal) tooLarge() error {
	what, remedy, most := "the list of its questions", "ask fewer", 0
	for _, e := range j.Entries {
		switch {
		case e.Name == seedStep || len(e.Data) <= most:
			continue
		case len(e.Question) > 0:
			what, remedy = "the answer to "+rpc.Quoted(e.Name), "ask for less, or let the tool run as a task"
		default:
			what, remedy = "the value of the step "+rpc.Quoted(e.Name), "let the step return less, such as where its value is kept, or let the tool run as a task"
		}
		most = len(e.Data)
	}
	for name, raw := range j.Unused {
		if len(raw) > most {
			what, remedy, most = "the answer to "+rpc.Quoted(name), "answer with less", len(raw)
		}
	}
	return fmt.Errorf("what the call has recorded takes more than %d bytes of request state; the largest part is %s: %s", maxState, what, remedy)
}

// open returns the content of a token. All its errors but expiry look the same to the client.
func (s *sealer) open(token string, binding []byte, now time.Time) (*sealedJournal, error) {
	plain, err := s.openText(token, binding, now)
	if err != nil {
		return nil, err
	}
	state := new(sealedJournal)
	if json.Unmarshal(plain, state) != nil {
		return nil, errState
	}
	return state, nil
}

// sealText is seal for any text.
func (s *sealer) sealText(text, binding []byte, expires time.Time) string {
	plain := append(binary.BigEndian.AppendUint64(nil, uint64(expires.UnixMilli())), text...)
	k := &s.keys[0]
	token := append([]byte{sealVersion}, k.hint[:]...)
	nonce := make([]byte, k.aead.NonceSize())
	rand.Read(nonce) // it does not fail
	token = k.aead.Seal(append(token, nonce...), nonce, plain, binding)
	return base64.RawURLEncoding.EncodeToString(token)
}

// openText is open for any text.
func (s *sealer) openText(token string, binding []byte, now time.Time) ([]byte, error) {
	// The decoder ignores line ends: a token that was changed by them would be accepted.
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
	return plain[8:], nil
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

// binding is what a token is bound to: one owner, method and name or URI, with the same arguments however a client spells
// them. Connections without an identity are one owner: no request needs the connection of an earlier one (LET18), and
// only a client that was given a token has it.
func (r *request) binding() []byte {
	h := sha256.New()
	owner := r.p.owner
	if strings.HasPrefix(owner, ownedByConnection) || strings.HasPrefix(owner, ownedBySession) {
		owner = ownedByNobody
	}
	for _, part := range [...]string{owner, r.method.Name, r.params.Name, r.params.URI, string(canonical(r.params.Arguments))} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	return h.Sum(nil)
}

// canonical is the form that all spellings of a JSON value share (LET14).
func canonical(raw []byte) []byte {
	if raw == nil {
		raw = emptyObject
	}
	if form, ok := check.AppendCanonical(nil, raw); ok {
		return form
	}
	return raw
}
