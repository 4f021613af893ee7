package revision

import "slices"

// Form is one of the objects of a union, and the text of the member by which it is distinguished from the others.
type Form struct {
	Tag   string
	Place Place
}

// Forms returns the objects of a union that are distinguished by the constant of one member, and that member; nil for other places.
func (p Place) Forms() (key string, forms []Form) {
	for _, s := range p.Schemas {
		for _, alternatives := range unions(s) {
			for _, key := range tagsOf(alternatives[0]) {
				if forms := taggedBy(key, alternatives); forms != nil {
					return key, forms
				}
			}
		}
	}
	return "", nil
}

// tagsOf are the properties of s with a constant value.
func tagsOf(s Schema) (keys []string) {
	for _, c := range append(conjuncts(s), s) {
		properties := c.Get("properties")
		if properties == nil {
			continue
		}
		for _, m := range properties.Members {
			if m.Value.Get("const") != nil {
				keys = append(keys, m.Key)
			}
		}
	}
	return keys
}

// taggedBy are the alternatives by their text of key; nil if one has none, or two have the same.
func taggedBy(key string, alternatives []Schema) (forms []Form) {
	for _, a := range alternatives {
		at := Place{[]Schema{a}, true}
		tag, _ := at.step(key)
		texts := values(tag)
		if !tag.Required || len(texts) != 1 || slices.ContainsFunc(forms, func(f Form) bool { return f.Tag == texts[0] }) {
			return nil
		}
		forms = append(forms, Form{texts[0], at})
	}
	return forms
}

// At is the place at a path below p, and whether there is one.
func (p Place) At(path ...string) (Place, bool) { return walk(p, path) }
