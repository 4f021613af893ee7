package check

// here returns where the next value begins.
func (d *Decoder) here() int {
	d.peek()
	return d.pos
}

// Position is where a part of the text begins, for Since.
type Position struct{ pos int }

// Position returns where the next value begins.
func (d *Decoder) Position() Position { return Position{d.here()} }

// Since returns the text that has been taken since p, as a part of the data given to Get or Reset; nil after a failure.
func (d *Decoder) Since(p Position) []byte {
	if d.err != nil {
		return nil
	}
	return d.full[p.pos:d.pos:d.pos]
}
