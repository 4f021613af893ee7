package keyword

import "net/url"

// ResolveURI resolves ref, an $id or a $ref without its fragment, against the URI base. If one of them can not be parsed, it returns ref.
func ResolveURI(base, ref string) string {
	b, err := url.Parse(base)
	if err != nil {
		return ref
	}
	u, err := b.Parse(ref)
	if err != nil {
		return ref
	}
	return u.String()
}
