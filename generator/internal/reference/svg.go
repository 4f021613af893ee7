package reference

import (
	"fmt"
	"slices"
	"strings"
)

// Sizes of pictures, in the units of SVG.
const (
	pictureWidth = 640
	boxWidth     = 140
	boxHeight    = 36
	rowHeight    = 84
	stepHeight   = 40
	margin       = 24
)

// svg draws a picture.
func svg(p Picture, caption string) string {
	var d drawing
	switch p := p.(type) {
	case States:
		d.states(p)
	case Sequence:
		d.sequence(p)
	}
	return fmt.Sprintf("<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s\">\n%s</svg>\n",
		pictureWidth, d.height, pictureWidth, d.height, escape(caption), d.String())
}

type drawing struct {
	strings.Builder
	height int
}

// point is a place in a picture.
type point struct{ x, y int }

// arrow draws a line with a head at its end.
func (d *drawing) arrow(from, to point) {
	fmt.Fprintf(d, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" />\n", from.x, from.y, to.x, to.y)
	d.head(from, to)
}

// head draws the head of an arrow, in one of four directions: that in which the line goes farthest.
func (d *drawing) head(from, to point) {
	dx, dy := to.x-from.x, to.y-from.y
	a, b := point{-8, -4}, point{-8, 4}
	switch {
	case abs(dx) >= abs(dy) && dx < 0:
		a, b = point{8, -4}, point{8, 4}
	case abs(dy) > abs(dx) && dy > 0:
		a, b = point{-4, -8}, point{4, -8}
	case abs(dy) > abs(dx):
		a, b = point{-4, 8}, point{4, 8}
	}
	fmt.Fprintf(d, "<path class=\"head\" d=\"M%d %d L%d %d L%d %d Z\" />\n", to.x, to.y, to.x+a.x, to.y+a.y, to.x+b.x, to.y+b.y)
}

func abs(n int) int { return max(n, -n) }

// text writes at a place: anchor is start, middle or end.
func (d *drawing) text(at point, anchor, class, s string) {
	fmt.Fprintf(d, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" class=\"%s\">%s</text>\n", at.x, at.y, anchor, class, escape(s))
}

func (d *drawing) box(left, middle int, s string) {
	fmt.Fprintf(d, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" />\n", left, middle-boxHeight/2, boxWidth, boxHeight)
	d.text(point{left + boxWidth/2, middle + 4}, "middle", "name", s)
}

// states draws the states that have transitions on the left, below one another, and the final ones on the right.
func (d *drawing) states(s States) {
	ends := s.ends()
	left, right := slices.DeleteFunc(slices.Clone(s.Names), func(n string) bool { return slices.Contains(ends, n) }), ends
	rows := max(len(left), len(right), 1)
	d.height = rows*rowHeight + margin
	leftX, rightX := 60, pictureWidth-boxWidth-margin
	place := func(column []string, i int) int { // y of the middle of row i: the rows of the shorter column are higher
		return margin/2 + rows*rowHeight*(2*i+1)/(2*len(column))
	}
	if len(left) > 0 {
		y := place(left, 0)
		fmt.Fprintf(d, "<circle class=\"dot\" cx=\"20\" cy=\"%d\" r=\"6\" />\n", y)
		d.arrow(point{26, y}, point{leftX, y})
	}
	for i, from := range left {
		for _, e := range s.from(from) {
			if j := slices.Index(right, e.To); j >= 0 {
				// Lines to one box end beside each other.
				d.arrow(point{leftX + boxWidth, place(left, i)}, point{rightX, place(right, j) + 10*(2*i-len(left)+1)/2})
			}
			if j := slices.Index(left, e.To); j >= 0 {
				d.between(leftX+boxWidth/2, place(left, i), place(left, j), e.Label)
			}
		}
	}
	for i, name := range left {
		d.box(leftX, place(left, i), name)
	}
	for i, name := range right {
		d.box(rightX, place(right, i), name)
	}
}

// between draws an arrow from one box to another of the same column: down on the left of its middle, up on the right.
func (d *drawing) between(x, from, to int, label string) {
	side, anchor, half := -24, "end", boxHeight/2
	if to < from {
		side, anchor, half = 24, "start", -boxHeight/2
	}
	d.arrow(point{x + side, from + half}, point{x + side, to - half})
	d.text(point{x + side*5/4, (from+to)/2 + 4}, anchor, "soft", label)
}

// sequence draws client and server as vertical lines, and the messages between them.
func (d *drawing) sequence(s Sequence) {
	left, right := margin+boxWidth/2, pictureWidth-margin-boxWidth/2
	d.height = margin + boxHeight + len(s.Steps)*stepHeight + margin
	top, bottom := margin/2+boxHeight/2, d.height-margin/2
	for _, x := range []int{left, right} {
		fmt.Fprintf(d, "<line class=\"life\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" />\n", x, top, x, bottom)
	}
	d.box(left-boxWidth/2, top, s.Left)
	d.box(right-boxWidth/2, top, s.Right)
	for i, step := range s.Steps {
		y := margin + boxHeight + (i+1)*stepHeight - 8
		from, to := point{left, y}, point{right, y}
		if step.Back {
			from, to = to, from
		}
		d.arrow(from, to)
		d.text(point{(left + right) / 2, y - 7}, "middle", "name", step.Text)
	}
}
