package typing

import (
	"reflect"
	"strconv"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// Types of the same meaning are declared once: their schemas have the same keywords and descriptions, and their
// rules the same locations. Each place keeps its own name, as an alias of the one type. So no name depends on which
// types are shared, and code that uses them does not see which place has the declaration: a $ref target rather than an inline schema, else the
// first.
//
// Not shared are: inputs and outputs of tools, types that goType names, the protocol's types, and recursive
// types.

// share finds the declarations that become an alias of an earlier one.
func (t *Types) share() {
	s := &sharer{claims: t.claims, ids: map[*model.Decl]int{}, known: map[string]int{}, open: map[*model.Decl]bool{},
		fields: map[reflect.Type][]int{}}
	first := map[int]*model.Decl{}
	for _, r := range []rank{rooted, referred, nested} {
		for _, d := range t.decls {
			if t.claims[d].rank != r || t.claims[d].apart {
				continue
			}
			id := s.id(d)
			if first[id] == nil {
				first[id] = d
			} else {
				d.Same = first[id]
			}
		}
	}
	for _, d := range t.decls {
		separateMembers(d)
	}
}

// separateMembers gives a union member its own type, not an alias, if another member of the union has that type.
func separateMembers(d *model.Decl) {
	u, ok := d.Body.(*model.Union)
	if !ok {
		return
	}
	seen := map[*model.Decl]bool{}
	for _, m := range u.Members {
		if seen[m.Decl.Origin()] {
			m.Decl.Same = nil
		}
		seen[m.Decl.Origin()] = true
	}
}

// sharer numbers declarations by what they mean.
type sharer struct {
	claims map[*model.Decl]*claim
	ids    map[*model.Decl]int
	known  map[string]int         // ids by key
	open   map[*model.Decl]bool   // those whose keys are being written
	fields map[reflect.Type][]int // the fields with a meaning, by type
	key    []byte                 // all that a declaration says, as far as it is written
}

// id is the same for declarations of the same meaning. A declaration that is not shared has an id of its own.
func (s *sharer) id(d *model.Decl) int {
	if id, ok := s.ids[d]; ok {
		return id
	}
	if s.claims[d].apart || s.open[d] {
		return s.fresh(d)
	}
	s.open[d] = true
	outer := s.key
	s.key = nil
	s.bools(d.Name == "", d.Append == "")
	s.write(reflect.ValueOf(d.Checks))
	s.write(reflect.ValueOf(&d.Body).Elem())
	key := string(s.key)
	s.key = outer
	delete(s.open, d)
	if id, ok := s.ids[d]; ok {
		return id // it contains itself
	}
	id, ok := s.known[key]
	if !ok {
		id = len(s.known) + 1
		s.known[key] = id
	}
	s.ids[d] = id
	return id
}

// fresh numbers a declaration that equals no other.
func (s *sharer) fresh(d *model.Decl) int {
	s.ids[d] = -len(s.ids) - 1
	return s.ids[d]
}

func (s *sharer) bools(all ...bool) {
	for _, is := range all {
		s.key = strconv.AppendBool(s.key, is)
	}
}

// nameFields are fields without a meaning: names that follow from the place.
var nameFields = map[string]bool{"Var": true, "Method": true}

// write adds a value of the model to the key. It uses reflection, so that no field is forgotten when one is added to the model.
func (s *sharer) write(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if d, ok := v.Interface().(*model.Decl); ok && d != nil {
			s.key = append(strconv.AppendInt(append(s.key, '#'), int64(s.id(d)), 10), ' ')
			return
		}
		s.inside(v)
	case reflect.Interface:
		if !v.IsNil() {
			s.key = append(s.key, v.Elem().Type().String()...)
		}
		s.inside(v)
	case reflect.Struct:
		for _, i := range s.meaning(v.Type()) {
			s.write(v.Field(i))
		}
	case reflect.Slice:
		s.key = append(strconv.AppendInt(s.key, int64(v.Len()), 10), '[')
		for i := range v.Len() {
			s.write(v.Index(i))
		}
	case reflect.String:
		s.key = append(strconv.AppendInt(s.key, int64(v.Len()), 10), ':')
		s.key = append(s.key, v.String()...)
	case reflect.Bool:
		s.bools(v.Bool())
	case reflect.Uint8:
		s.key = append(strconv.AppendUint(s.key, v.Uint(), 10), ' ')
	case reflect.Int, reflect.Int64:
		s.key = append(strconv.AppendInt(s.key, v.Int(), 10), ' ')
	default:
		panic("typing: the model has a field of a kind that share does not know: " + v.Kind().String())
	}
}

// meaning returns the indexes of the fields of a struct that have a meaning.
func (s *sharer) meaning(t reflect.Type) []int {
	all, ok := s.fields[t]
	if !ok {
		for i := range t.NumField() {
			if !nameFields[t.Field(i).Name] {
				all = append(all, i)
			}
		}
		s.fields[t] = all
	}
	return all
}

// inside writes the value of a pointer or an interface.
func (s *sharer) inside(v reflect.Value) {
	if v.IsNil() {
		s.key = append(s.key, '-')
		return
	}
	s.write(v.Elem())
}
