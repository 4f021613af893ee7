package manifest

// notYet reports the parts of the format that are read and checked but not generated so far. To lift one, remove it
// here.
func (l *loader) notYet() {
	if c := l.m.Go.Client; c.Value {
		l.ds.Report(c.Node, "not-supported-yet", "remove client", "clients are not generated yet")
	}
}
