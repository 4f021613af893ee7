package check

import "time"

// number2 reads two digits at i; -1 when there are none.
func number2(s string, i int) int {
	if i+2 > len(s) || !isDigit(s[i]) || !isDigit(s[i+1]) {
		return -1
	}
	return int(s[i]-'0')*10 + int(s[i+1]-'0')
}

func isDate(s string) bool { return len(s) == 10 && startsWithDate(s) }

func startsWithDate(s string) bool {
	high, low := number2(s, 0), number2(s, 2)
	month, day := number2(s, 5), number2(s, 8)
	if high < 0 || low < 0 || month < 1 || day < 1 || s[4] != '-' || s[7] != '-' {
		return false
	}
	return month <= 12 && day <= daysIn(high*100+low, month)
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// isTime takes full-time of RFC 3339; a leap second only where it is 23:59:60 in UTC.
func isTime(s string) bool {
	hour, minute, second := number2(s, 0), number2(s, 3), number2(s, 6)
	if hour < 0 || minute < 0 || second < 0 || s[2] != ':' || s[5] != ':' {
		return false
	}
	if hour > 23 || minute > 59 || second > 60 {
		return false
	}
	rest := s[8:]
	if len(rest) > 1 && rest[0] == '.' {
		n := 1
		for n < len(rest) && isDigit(rest[n]) {
			n++
		}
		if n == 1 {
			return false
		}
		rest = rest[n:]
	}
	offset, ok := zone(rest)
	const day = 24 * 60
	return ok && (second < 60 || (hour*60+minute-offset+day)%day == day-1)
}

// zone reads an offset in minutes.
func zone(s string) (minutes int, ok bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) != 6 || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return 0, false
	}
	h, m := number2(s, 1), number2(s, 4)
	if h < 0 || h > 23 || m < 0 || m > 59 {
		return 0, false
	}
	if s[0] == '-' {
		return -(h*60 + m), true
	}
	return h*60 + m, true
}

func isDateTime(s string) bool {
	return len(s) >= 20 && startsWithDate(s) && s[10]|0x20 == 't' && isTime(s[11:])
}

// parseDateTime reads what isDateTime takes; a leap second becomes the second after it.
func parseDateTime(s string) (time.Time, bool) {
	if !isDateTime(s) {
		return time.Time{}, false
	}
	nano, i := 0, 19
	if s[i] == '.' {
		unit := 100_000_000
		for i++; isDigit(s[i]); i++ {
			nano += int(s[i]-'0') * unit
			unit /= 10
		}
	}
	where := time.UTC
	if minutes, _ := zone(s[i:]); minutes != 0 {
		where = time.FixedZone("", minutes*60)
	}
	year := number2(s, 0)*100 + number2(s, 2)
	return time.Date(year, time.Month(number2(s, 5)), number2(s, 8), number2(s, 11), number2(s, 14), number2(s, 17), nano, where), true
}

// isDuration takes the grammar of RFC 3339, appendix A: units in order, none left out between two, weeks alone.
func isDuration(s string) bool {
	if len(s) < 3 || s[0] != 'P' {
		return false
	}
	s = s[1:]
	if s[len(s)-1] == 'W' {
		n := digitsAt(s, 0)
		return n > 0 && n == len(s)-1
	}
	i := 0
	if s[0] != 'T' {
		if i = units(s, 0, "YMD"); i == 0 {
			return false
		}
	}
	if i == len(s) {
		return true
	}
	if s[i] != 'T' {
		return false
	}
	end := units(s, i+1, "HMS")
	return end > i+1 && end == len(s)
}

func digitsAt(s string, i int) int {
	n := 0
	for i+n < len(s) && isDigit(s[i+n]) {
		n++
	}
	return n
}

// units takes numbers with consecutive units and returns the index after them; i when there are none.
func units(s string, i int, order string) int {
	next := -1 // which unit must follow; -1: any
	for {
		n := digitsAt(s, i)
		if n == 0 || i+n == len(s) {
			return i
		}
		unit := -1
		for u := range len(order) {
			if order[u] == s[i+n] {
				unit = u
			}
		}
		if unit < 0 || next >= 0 && unit != next {
			return i
		}
		next = unit + 1
		i += n + 1
	}
}
