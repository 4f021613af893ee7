package check

import "slices"

// This file copies the parts of a text that are kept: strings and raw values. Small ones share allocations.

const chunkBytes = 1024 // measured: larger chunks gain nothing on 200 kB of records and keep more alive

// copyPart copies a part of the data without escapes.
func (d *Decoder) copyPart(start, end int) string {
	if from := start - d.windowAt; from >= 0 && end-d.windowAt <= len(d.window) {
		return d.window[from : end-d.windowAt]
	}
	return d.copyPartSlow(start, end)
}

// copyPartSlow is copyPart for a part outside the window. Near the end of the text it copies all that is left as the window. A long string keeps no neighbours alive.
func (d *Decoder) copyPartSlow(start, end int) string {
	n := end - start
	if n > chunkBytes/4 {
		return string(d.full[start:end])
	}
	rest := len(d.full) - start
	if rest <= chunkBytes/4 {
		d.window, d.windowAt = string(d.full[start:]), start
		return d.window[:n]
	}
	return d.copyShared(d.full[start:end], rest)
}

// copyShared copies a small part into an allocation that others share. rest is the length of the text from that part on.
func (d *Decoder) copyShared(part []byte, rest int) string {
	if d.chunk.Cap()-d.chunk.Len() < len(part) {
		d.chunk.Reset()
		d.chunk.Grow(max(len(part), min(rest/8, chunkBytes))) // about an eighth of a text is kept: measured, garbage costs more than more chunks
	}
	at := d.chunk.Len()
	d.chunk.Write(part)
	return d.chunk.String()[at:]
}

// copyRaw copies a part of the data. Small ones share an allocation, as strings do; appending to one never writes into the next.
func (d *Decoder) copyRaw(part []byte) Raw {
	n := len(part)
	if n > chunkBytes/4 {
		return append(make(Raw, 0, n), part...)
	}
	if cap(d.raws)-len(d.raws) < n {
		rest := len(d.full) - d.pos
		d.raws = make([]byte, 0, max(n, min(rest/4, chunkBytes))) // more of a text with raw values is kept than of others
	}
	at := len(d.raws)
	d.raws = append(d.raws, part...)
	return d.raws[at:len(d.raws):len(d.raws)]
}

// text returns a copy of the value of a scanned string.
func (d *Decoder) text(s span) string {
	if s.escaped {
		raw := d.full[s.start:s.end]
		d.scratch, _, _ = unescape(slices.Grow(d.scratch[:0], len(raw)+unescapeRoom), raw, 0) // grown at once: steps would leave several times as much garbage
		return d.copyScratch(int(s.start))
	}
	return d.copyPart(int(s.start), int(s.end))
}

// copyScratch returns a copy of the scratch, the value of the string at start.
func (d *Decoder) copyScratch(start int) string {
	if len(d.scratch) <= chunkBytes/4 {
		return d.copyShared(d.scratch, len(d.full)-start)
	}
	return string(d.scratch)
}
