package naming

import "testing"

func TestSingularNamesOneOfMany(t *testing.T) {
	for name, want := range map[string]string{
		"rows": "Row", "line_items": "LineItem", "toRecipients": "ToRecipient", "entries": "Entry", "children": "Child", "imageUrls": "ImageURL",
		"user_ids": "UserID", "boxes": "Box", "batches": "Batch", "responses": "Response", "statuses": "Status", "addresses": "Address",
		"address": "", "status": "", "data": "", "dns": "", "series": "", "analysis": "", "": "", "s": "", "is": "", "日本": "",
	} {
		if got := Singular(name); got != want {
			t.Errorf("singular(%q) = %q, want %q", name, got, want)
		}
	}
}
