package streamhttp

// list has elements that know their place in it, so that any can leave without a search or an allocation. The zero list is empty.
type list[E element[E]] struct{ first, last E }

// element is what a list has. It is in one list at a time.
type element[E any] interface {
	comparable
	// place is where the list keeps what is beside the element.
	place() *place[E]
}

type place[E any] struct {
	listed        bool
	before, after E
}

// push appends e, which is in no list.
func (l *list[E]) push(e E) {
	var none E
	*e.place() = place[E]{listed: true, before: l.last}
	if l.last == none {
		l.first = e
	} else {
		l.last.place().after = e
	}
	l.last = e
}

// remove takes e out, if it is in the list.
func (l *list[E]) remove(e E) {
	var none E
	p := e.place()
	if !p.listed {
		return
	}
	if p.before == none {
		l.first = p.after
	} else {
		p.before.place().after = p.after
	}
	if p.after == none {
		l.last = p.before
	} else {
		p.after.place().before = p.before
	}
	*p = place[E]{}
}
