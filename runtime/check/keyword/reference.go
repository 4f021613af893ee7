package keyword

import "net/url"

// ResolveURI returns the URI that ref, an $id or a reference without its fragment, means below the URI base. One that can not be read means itself.
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
