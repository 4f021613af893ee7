package jsonschema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// most is how many violations are listed, as with generated tools, and mostOfUnion how many of the form of a union that fits best.
const (
	most        = 32
	mostOfUnion = 3
)

// reader turns the library's errors into violations. The library goes over members in any order, so they are sorted.
type reader struct {
	value   any
	printer *message.Printer
	read    map[*jsonschema.ValidationError]check.Violations // an error may be a cause of several
	paths   map[string][]string                              // to wrong values, by their pointers
	guarded bool                                             // a name that may be in a sensitive value is not shown
	owners  map[string]owners                                // by name, for all names in the value; nil: not looked up yet
}

// owners are the objects in a value that have a member of some name.
type owners struct {
	count int
	first *part
}

// part is an object or an array in a value; parent is nil for the value itself.
type part struct {
	parent *part
	step   string // from parent
}

func (p *part) pointer() string {
	var steps []string
	for ; p.parent != nil; p = p.parent {
		steps = append(steps, p.step)
	}
	slices.Reverse(steps)
	return pointer(steps)
}

func newReader(value any) *reader {
	return &reader{value: value, printer: message.NewPrinter(language.English),
		read: map[*jsonschema.ValidationError]check.Violations{}, paths: map[string][]string{}}
}

// list returns the violations of an error, at most most of them, with the values that they are about: to write one takes long, and an error may have very
// many causes.
func (r *reader) list(e *jsonschema.ValidationError) check.Violations {
	all := slices.Clone(r.violations(e))
	for i := range all {
		if all[i].Found == "" {
			all[i].Found = r.found(r.paths[all[i].Instance])
		}
	}
	return all
}

// violations returns those of the errors that have no causes, without the keywords around them; of a union those of the form that fits best.
func (r *reader) violations(e *jsonschema.ValidationError) check.Violations {
	all, known := r.read[e]
	if known {
		return all
	}
	name, isName := e.ErrorKind.(*kind.PropertyNames)
	switch {
	case isName:
		all = r.wrongName(name.Property, e)
	case len(e.Causes) == 0:
		all = r.reason(e)
	case isUnion(e.ErrorKind):
		all = r.union(e)
	default:
		for _, cause := range listed(e.Causes) {
			all = append(all, r.violations(cause)...)
		}
		all = sorted(all)
	}
	r.read[e] = all
	return all
}

// listed returns causes, but of wrong names only the first by order: there may be many, and each takes long to explain.
func listed(causes []*jsonschema.ValidationError) (some []*jsonschema.ValidationError) {
	name := func(e *jsonschema.ValidationError) string { return e.ErrorKind.(*kind.PropertyNames).Property }
	var names []*jsonschema.ValidationError
	for _, cause := range causes {
		if _, ok := cause.ErrorKind.(*kind.PropertyNames); ok {
			names = append(names, cause)
		} else {
			some = append(some, cause)
		}
	}
	slices.SortFunc(names, func(a, b *jsonschema.ValidationError) int { return cmp.Compare(name(a), name(b)) })
	return append(some, names[:min(len(names), most)]...)
}

func isUnion(k jsonschema.ErrorKind) bool {
	switch k.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return true
	}
	return false
}

// sorted returns the first violations in an order that is always the same, each once.
func sorted(all check.Violations) check.Violations {
	slices.SortFunc(all, func(a, b check.Violation) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Found, b.Found), cmp.Compare(a.Allowed, b.Allowed))
	})
	all.Sort()
	all = slices.Compact(all)
	return all[:min(len(all), most)]
}

// reason returns the violations of an error without causes.
func (r *reader) reason(e *jsonschema.ValidationError) check.Violations {
	keywords := e.ErrorKind.KeywordPath()
	v := check.Violation{Instance: pointer(e.InstanceLocation), Schema: "#/" + strings.Join(keywords, "/"), Keyword: "schema"}
	if len(keywords) > 0 {
		v.Keyword = keywords[len(keywords)-1]
	}
	r.paths[v.Instance] = e.InstanceLocation
	return sorted(r.explain(v, e.ErrorKind))
}

// union returns what is wrong with the form of anyOf or oneOf that fits best. Forms that fit as well are told together where each lacks one thing of the
// same kind: "a string or null", "an object with x or with y".
func (r *reader) union(e *jsonschema.ValidationError) check.Violations {
	var best []check.Violations
	for _, cause := range e.Causes {
		form := r.violations(cause)
		order := -1
		if len(best) > 0 {
			order = cmp.Or(cmp.Compare(misfit(form, e), misfit(best[0], e)), cmp.Compare(len(form), len(best[0])))
		}
		switch {
		case order < 0:
			best = []check.Violations{form}
		case order == 0:
			best = append(best, form)
		}
	}
	if together, ok := r.together(best, e); ok {
		return check.Violations{together}
	}
	return best[0][:min(len(best[0]), mostOfUnion)]
}

// together returns one violation in place of those of several forms, each of which has one: they refuse the same value by what it is, or an object because
// of one property that it lacks.
func (r *reader) together(forms []check.Violations, e *jsonschema.ValidationError) (v check.Violation, ok bool) {
	if len(forms) < 2 || len(forms[0]) != 1 {
		return v, false
	}
	v = forms[0][0]
	keywords := e.ErrorKind.KeywordPath()
	lacks, at := v.Keyword == "required", v.Instance
	if lacks {
		at = at[:strings.LastIndexByte(at, '/')]
	}
	var allowed []string
	for _, form := range forms {
		f := form[0]
		switch {
		case lacks && f.Keyword == "required" && strings.LastIndexByte(f.Instance, '/') == len(at) && strings.HasPrefix(f.Instance, at):
			allowed = appendNew(allowed, "with "+strconv.Quote(f.Instance[len(at)+1:]))
		case !lacks && isChoice(f) && isChoice(v) && f.Instance == at:
			for part := range strings.SplitSeq(f.Allowed, " or ") {
				allowed = appendNew(allowed, part)
			}
		default:
			return v, false
		}
		if f.Keyword != v.Keyword || lacks {
			v.Keyword, v.Schema = keywords[len(keywords)-1], "#/"+strings.Join(keywords, "/")
		}
	}
	v.Instance, v.Allowed = at, strings.Join(allowed, " or ")
	if lacks {
		v.Found, v.Allowed = "", "an object "+v.Allowed
	}
	return v, true
}

func appendNew(all []string, one string) []string {
	if slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}

// isChoice reports whether a violation says which values there may be.
func isChoice(v check.Violation) bool {
	return v.Keyword == "type" || v.Keyword == "const" || v.Keyword == "enum"
}

// misfit tells how certainly a form of the union e was not meant: 2 where it refuses the value by what it is, 1 where a constant member differs, which
// usually tells forms apart, else 0.
func misfit(form check.Violations, e *jsonschema.ValidationError) int {
	at, worst := pointer(e.InstanceLocation), 0
	for _, v := range form {
		below := strings.TrimPrefix(v.Instance, at)
		switch {
		case below == "" && (isChoice(v) || v.Keyword == "schema"):
			worst = 2
		case strings.Count(below, "/") <= 1 && (v.Keyword == "const" || v.Keyword == "enum"):
			worst = max(worst, 1)
		}
	}
	return worst
}

// wrongName returns the violation of propertyNames. The library does not say in which object the name is. The instance is the object that has it, or
// if several have it, the root.
func (r *reader) wrongName(name string, e *jsonschema.ValidationError) check.Violations {
	if r.owners == nil {
		r.owners = map[string]owners{}
		r.findNames(new(part), r.value)
	}
	v := check.Violation{
		Schema: "#/propertyNames", Keyword: "propertyNames", Found: shortened(strconv.Quote(name)), Allowed: strings.Join(r.reasons(e), " and "),
	}
	switch o := r.owners[name]; {
	case o.count == 1:
		v.Instance = o.first.pointer()
	case r.guarded:
		v.Found = "a name that is not shown"
	}
	return check.Violations{v}
}

// findNames records the owners of all names in a value.
func (r *reader) findNames(at *part, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, one := range v {
			o := r.owners[name]
			if o.count++; o.count == 1 {
				o.first = at
			}
			r.owners[name] = o
			r.findNames(&part{at, name}, one)
		}
	case []any:
		for i, one := range v {
			r.findNames(&part{at, strconv.Itoa(i)}, one)
		}
	}
}

// reasons returns what the causes of an error allow, sorted.
func (r *reader) reasons(e *jsonschema.ValidationError) (all []string) {
	read := map[*jsonschema.ValidationError]bool{}
	var look func(*jsonschema.ValidationError)
	look = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			if read[cause] {
				continue
			}
			read[cause] = true
			if look(cause); len(cause.Causes) == 0 {
				all = append(all, r.allowed(cause.ErrorKind))
			}
		}
	}
	look(e)
	slices.Sort(all)
	return all
}

// found returns the value at a path, shortened.
func (r *reader) found(steps []string) string {
	at := r.value
	for _, step := range steps {
		switch v := at.(type) {
		case map[string]any:
			at = v[step]
		case []any:
			if i, err := strconv.Atoi(step); err == nil && i < len(v) {
				at = v[i]
			}
		}
	}
	return shortened(canonical(at))
}
