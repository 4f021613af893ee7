package rpc

import "bytes"

// Skim reads a frame that is thrown away because it is too large. It keeps what is needed to read the frame's kind and id, wherever in it they are: its
// members without what their objects, arrays and long strings contain.
type Skim struct {
	kept     []byte
	depth    int // how many brackets are open
	inString bool
	escaped  bool // the last byte is a backslash that escapes the next one
	length   int  // of the string, so far
}

// maxSkim is how many bytes are kept. A frame that needs more looks as if it were cut off there.
const maxSkim = 16 << 10

// Add reads the next part of the frame.
func (s *Skim) Add(part []byte) {
	for _, c := range part {
		if len(s.kept) == maxSkim {
			return
		}
		dropped := s.depth > 1
		switch {
		case s.inString:
			most := MaxIDBytes // so that what is kept of a longer string is still too long for an id
			if s.escaped {
				most++
			}
			s.length++
			ends := c == '"' && !s.escaped
			s.inString, s.escaped = !ends, c == '\\' && !s.escaped
			dropped = dropped || s.length > most && !ends
		case c == '"':
			s.inString, s.length = true, 1
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			s.depth--
			dropped = s.depth > 1
		}
		if !dropped {
			s.kept = append(s.kept, c)
		}
	}
}

// TooLarge returns the error for the frame, of which all was read.
func (s *Skim) TooLarge(limit int) *FrameError {
	return &FrameError{Limit: limit, Begun: s.message()}
}

// message returns the frame's kind and id. If no id was kept, it has only the method, and no kind: a request may have its id after what was kept.
func (s *Skim) message() Message {
	var r raw
	_, twice, ok := splitLoosely(s.kept, &r)
	m := Message{Kind: r.kind()}
	if !ok || twice && !m.Answers() || r[inID] == nil || m.setID(r[inID]) != nil {
		return Message{Method: bytes.Clone(bytes.Trim(r[inMethod], `"`))}
	}
	return m
}
