package check

// here returns where the value that comes begins.
func (d *Decoder) here() int {
	d.peek()
	return d.pos
}

// Position is a place to read a part of the text from.
type Position struct{ pos int }

// Position remembers the value that comes.
func (d *Decoder) Position() Position { return Position{d.here()} }

// Since returns what has been taken since, as a part of the data given to Reset; nil after a failure.
func (d *Decoder) Since(p Position) []byte {
	if d.err != nil {
		return nil
	}
	return d.full[p.pos:d.pos:d.pos]
}
