package rpc

import "bytes"

// skim keeps of a frame that is thrown away what tells its kind and id, wherever in it they are: its members without what their objects, arrays and
// long strings contain. A frame with more than maxSkim of that looks cut off.
type skim struct {
	kept     []byte
	depth    int // of brackets
	inString bool
	escaped  bool // by the last byte
	length   int  // of the string, so far
}

const maxSkim = 16 << 10

// add reads the next part of the frame.
func (s *skim) add(part []byte) {
	for _, c := range part {
		if len(s.kept) == maxSkim {
			return
		}
		outside := s.depth > 1
		switch {
		case s.inString:
			most := MaxIDBytes // so that what is left is too long for an id
			if s.escaped {
				most++
			}
			s.length++
			ends := c == '"' && !s.escaped
			s.inString, s.escaped = !ends, c == '\\' && !s.escaped
			outside = outside || s.length > most && !ends
		case c == '"':
			s.inString, s.length = true, 1
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			s.depth--
			outside = s.depth > 1
		}
		if !outside {
			s.kept = append(s.kept, c)
		}
	}
}

// message is the frame's kind and id. Without an id it has only the method, and no kind: a request may have its id after what was read.
func (s *skim) message() Message {
	var r raw
	_, twice, ok := splitLoosely(s.kept, &r)
	m := Message{Kind: r.kind()}
	if !ok || twice && !m.Answers() || r[inID] == nil || m.setID(r[inID]) != nil {
		return Message{Method: bytes.Clone(bytes.Trim(r[inMethod], `"`))}
	}
	return m
}
