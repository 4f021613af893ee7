package schema

// dropDuplicates reports each repeated key and keeps its first member. Few keys are compared directly, many
// through a map: a hostile object must not cost the square of its size.
func dropDuplicates(members []Member, pointer string, ds *Diagnostics) []Member {
	const few = 12
	var seen map[string]int
	if len(members) > few {
		seen = make(map[string]int, len(members))
	}
	kept := members[:0]
	for _, m := range members {
		first := -1
		if seen == nil {
			first = indexOfKey(kept, m.Key)
		} else if i, ok := seen[m.Key]; ok {
			first = i
		}
		if first >= 0 {
			ds.ReportAt(m.KeyPos, pointer+"/"+EscapeToken(m.Key), "duplicate-key", "remove one of them", "key %s occurs twice; the first is at line %d",
				quote(m.Key), kept[first].KeyPos.Line)
			continue
		}
		if seen != nil {
			seen[m.Key] = len(kept)
		}
		kept = append(kept, m)
	}
	return kept
}

func indexOfKey(members []Member, key string) int {
	for i := range members {
		if members[i].Key == key {
			return i
		}
	}
	return -1
}
