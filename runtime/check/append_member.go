package check

import "slices"

// AppendOptional writes a member, or nothing when it is missing.
func AppendOptional[T any](b []byte, key string, v Optional[T], value func([]byte, T) []byte) []byte {
	if !v.Set {
		return b
	}
	return value(Member(b, key), v.Value)
}

// AppendOrNull writes a member, null when it is missing.
func AppendOrNull[T any](b []byte, key string, v Optional[T], value func([]byte, T) []byte) []byte {
	b = Member(b, key)
	if !v.Set {
		return append(b, "null"...)
	}
	return value(b, v.Value)
}

// AppendNullable writes a member, which may be null, or nothing when it is missing.
func AppendNullable[T any](b []byte, key string, v Nullable[T], value func([]byte, T) []byte) []byte {
	if v.Null {
		return append(Member(b, key), "null"...)
	}
	return AppendOptional(b, key, v.Optional, value)
}

// AppendOptionalRaw writes a member, or nothing for the empty Raw.
func AppendOptionalRaw(b []byte, key string, v Raw) []byte {
	if len(v) == 0 {
		return b
	}
	return AppendRaw(Member(b, key), v)
}

// AppendOptionalSlice writes a member with an array of scalars, or nothing for nil.
func AppendOptionalSlice[T any](b []byte, key string, list []T, value func([]byte, T) []byte) []byte {
	if list == nil {
		return b
	}
	return AppendSlice(Member(b, key), list, value)
}

// AppendOptionalList writes a member with an array of values that are encoded through a pointer, or nothing for nil.
func AppendOptionalList[T any](b []byte, key string, list []T, value func([]byte, *T) []byte) []byte {
	if list == nil {
		return b
	}
	return AppendList(Member(b, key), list, value)
}

// AppendOptionalMap writes a member with an object, or nothing for nil.
func AppendOptionalMap[T any](b []byte, key string, m map[string]T, value func([]byte, *T) []byte) []byte {
	if m == nil {
		return b
	}
	return AppendMap(Member(b, key), m, value)
}

// AppendPointer writes a member, or nothing for nil.
func AppendPointer[T any](b []byte, key string, v *T, value func([]byte, *T) []byte) []byte {
	if v == nil {
		return b
	}
	return value(Member(b, key), v)
}

// AppendPointerOrNull writes a member, null for nil.
func AppendPointerOrNull[T any](b []byte, key string, v *T, value func([]byte, *T) []byte) []byte {
	b = Member(b, key)
	if v == nil {
		return append(b, "null"...)
	}
	return value(b, v)
}

// AppendNullablePointer writes a member, which is null for a nil pointer, too, or nothing when it is missing.
func AppendNullablePointer[T any](b []byte, key string, v Nullable[*T], value func([]byte, *T) []byte) []byte {
	if v.Null || v.Set {
		return AppendPointerOrNull(b, key, v.Value, value)
	}
	return b
}

// AppendSlice writes an array of scalars; nil is written as [].
func AppendSlice[T any](b []byte, list []T, value func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = value(b, list[i])
	}
	return append(b, ']')
}

// AppendList writes an array of values that are encoded through a pointer; nil is written as [].
func AppendList[T any](b []byte, list []T, value func([]byte, *T) []byte) []byte {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = value(b, &list[i])
	}
	return append(b, ']')
}

// Item writes the comma before an item of an open array, unless the item is the first.
func Item(b []byte) []byte {
	if b[len(b)-1] != '[' {
		b = append(b, ',')
	}
	return b
}

// AppendItems writes items into an open array.
func AppendItems[T any](b []byte, list []T, value func([]byte, *T) []byte) []byte {
	for i := range list {
		b = value(Item(b), &list[i])
	}
	return b
}

// AppendMap writes an object, its members in the order of their names; nil is written as {}.
func AppendMap[T any](b []byte, m map[string]T, value func([]byte, *T) []byte) []byte {
	return append(AppendMembers(append(b, '{'), m, value), '}')
}

// AppendMembers writes the members that AddMember stored, in the order of their names, into an open object.
func AppendMembers[T any](b []byte, m map[string]T, value func([]byte, *T) []byte) []byte {
	for _, name := range sortedNames(m) {
		v := m[name]
		b = value(AppendKey(b, name), &v)
	}
	return b
}

// AppendAdditionalProperties writes the members that Keep stored, in the order of their names, into an open object.
func AppendAdditionalProperties(b []byte, m map[string]Raw) []byte {
	for _, name := range sortedNames(m) {
		b = AppendRaw(AppendKey(b, name), m[name])
	}
	return b
}

func sortedNames[T any](m map[string]T) []string {
	if len(m) == 0 {
		return nil
	}
	list := make([]string, 0, len(m))
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
