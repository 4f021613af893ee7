package check

import "slices"

// This file copies the parts of a text that are kept: strings and raw values. Small ones share allocations.

const chunkBytes = 1024 // measured: larger chunks gain nothing on 200 kB of records and keep more alive

// copyPart copies a part of the data. A long string has an allocation of its own, so it keeps no others alive. Short ones share a chunk, also with those
// of earlier texts: most texts have few strings, so a chunk for each text would be mostly unused.
func (d *Decoder) copyPart(part []byte) string {
	if len(part) > chunkBytes/4 {
		return string(part)
	}
	if d.chunk.Cap()-d.chunk.Len() < len(part) {
		d.chunk.Reset()
		d.chunk.Grow(chunkBytes)
	}
	at := d.chunk.Len()
	d.chunk.Write(part)
	return d.chunk.String()[at:]
}

// copyRaw copies a part of the data. Small copies share an allocation, but appending to one never writes into the next.
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
		return d.copyPart(d.scratch)
	}
	return d.copyPart(d.full[s.start:s.end])
}
