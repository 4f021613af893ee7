package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// sentence is one line of the tables: a normative sentence of the specification that binds a server, in our own words. Lines have
// six columns, divided by tabs:
//
//	id        short name of the page and a number, for good
//	page      path of the page, with the anchor of the heading
//	strength  must, should or may; a negation is in the text
//	state     met, author, na or open
//	evidence  see prove.go
//	text      at most fifteen words
type sentence struct {
	where                            string // file and line
	id, page, strength, state, proof string
	text                             string
}

// States of a sentence.
const (
	met    = "met"    // tests prove it
	author = "author" // whoever writes a server has to keep it, and reads so
	na     = "na"     // it does not apply
	open   = "open"   // it is not kept, or nothing proves that it is
)

// maxWords is how many words a text has at most: it says what to keep, the page says the rest.
const maxWords = 15

var (
	sentenceID = regexp.MustCompile(`^(25|26|ext)(-[a-z]+)+-\d+$`)
	pagePath   = regexp.MustCompile(`^[a-z0-9/.-]+(#[\w-]+)?$`)
	strengths  = map[string]bool{"must": true, "should": true, "may": true}
	states     = map[string]bool{met: true, author: true, na: true, open: true}
)

// readSentences reads the tables of dir. What is wrong with a line is told in words, one finding each.
func readSentences(dir string) (all []sentence, wrong []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.tsv"))
	if err != nil || len(files) == 0 {
		return nil, nil, fmt.Errorf("no sentences in %s: %v", dir, err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		n := 0
		for line := range strings.Lines(string(data)) {
			n++
			if line = strings.TrimRight(line, "\r\n"); line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			s, err := parseSentence(fmt.Sprintf("%s:%d", path, n), line)
			if err != nil {
				wrong = append(wrong, err.Error())
				continue
			}
			all = append(all, s)
		}
	}
	return all, append(wrong, unlike(all)...), nil
}

func parseSentence(where, line string) (sentence, error) {
	f := strings.Split(line, "\t")
	if len(f) != 6 {
		return sentence{}, fmt.Errorf("%s: %d columns, want id, page, strength, state, evidence and text", where, len(f))
	}
	s := sentence{where, f[0], f[1], f[2], f[3], f[4], f[5]}
	for _, c := range []struct {
		name, value string
		ok          bool
	}{
		{"id", s.id, sentenceID.MatchString(s.id)},
		{"page", s.page, pagePath.MatchString(s.page)},
		{"strength", s.strength, strengths[s.strength]},
		{"state", s.state, states[s.state]},
		{"evidence", s.proof, strings.TrimSpace(s.proof) != ""},
		{"text", s.text, strings.TrimSpace(s.text) != ""},
	} {
		if !c.ok {
			return s, fmt.Errorf("%s: %q is no %s", where, c.value, c.name)
		}
	}
	if n := len(strings.Fields(s.text)); n > maxWords {
		return s, fmt.Errorf("%s: %s has %d words, %d are allowed", where, s.id, n, maxWords)
	}
	return s, nil
}

// unlike finds ids that come twice, and short names that stand for two pages.
func unlike(all []sentence) (wrong []string) {
	first, pages := map[string]string{}, map[string]string{}
	for _, s := range all {
		if at := first[s.id]; at != "" {
			wrong = append(wrong, fmt.Sprintf("%s: %s is at %s already", s.where, s.id, at))
			continue
		}
		first[s.id] = s.where
		short, path := s.short(), s.path()
		if known := pages[short]; known != "" && known != path {
			wrong = append(wrong, fmt.Sprintf("%s: %s stands for %s, not %s", s.where, short, known, path))
		}
		pages[short] = path
	}
	return wrong
}

// short is the id without its number.
func (s *sentence) short() string { return s.id[:strings.LastIndexByte(s.id, '-')] }

// path is the page without its anchor.
func (s *sentence) path() string {
	path, _, _ := strings.Cut(s.page, "#")
	return path
}
