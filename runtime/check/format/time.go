package format

import (
	"math"
	"strconv"
	"time"
)

// number2 reads a number of two digits; it returns 100 if the bytes are no digits. It is small enough to be inlined.
func number2(tens, units byte) int {
	tens, units = tens-'0', units-'0'
	if tens > 9 || units > 9 {
		return 100
	}
	return int(tens)*10 + int(units)
}

func isDate(s string) bool { return len(s) == 10 && startsWithDate(s) }

// ParseDate reads what isDate accepts.
func ParseDate(s string) (year int, month time.Month, day int, ok bool) {
	if !isDate(s) {
		return 0, 0, 0, false
	}
	return number2(s[0], s[1])*100 + number2(s[2], s[3]), time.Month(number2(s[5], s[6])), number2(s[8], s[9]), true
}

// startsWithDate accepts a full-date of RFC 3339 in the first ten bytes.
func startsWithDate(s string) bool {
	_ = s[9]
	high, low := number2(s[0], s[1]), number2(s[2], s[3])
	month, day := number2(s[5], s[6]), number2(s[8], s[9])
	if high > 99 || low > 99 || month-1 >= 12 || day < 1 || s[4] != '-' || s[7] != '-' {
		return false
	}
	return month > 0 && (day <= 28 || day <= daysIn(high*100+low, month))
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

// isTime accepts a full-time of RFC 3339; a leap second only where it is 23:59:60 in UTC.
func isTime(s string) bool {
	if len(s) < 9 || s[2] != ':' || s[5] != ':' {
		return false
	}
	hour, minute, second := number2(s[0], s[1]), number2(s[3], s[4]), number2(s[6], s[7])
	if hour > 23 || minute > 59 || second > 60 {
		return false
	}
	rest := s[8:]
	if rest[0] == '.' {
		n := digitsAt(rest, 1)
		if n == 0 {
			return false
		}
		rest = rest[1+n:]
	}
	offset, ok := zone(rest)
	const day = 24 * 60
	return ok && (second < 60 || (hour*60+minute-offset+day)%day == day-1)
}

// zone reads an offset from UTC, such as +01:00.
func zone(s string) (minutes int, ok bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) != 6 || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return 0, false
	}
	h, m := number2(s[1], s[2]), number2(s[4], s[5])
	if h > 23 || m > 59 {
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

// ParseDateTime reads what isDateTime accepts; a leap second becomes the second after it. ok is false for other texts, and if that second is in the
// year 10000, which a date-time can not have.
func ParseDateTime(s string) (t time.Time, ok bool) {
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
	at := func(i int) int { return number2(s[i], s[i+1]) }
	t = time.Date(at(0)*100+at(2), time.Month(at(5)), at(8), at(11), at(14), at(17), nano, where)
	return t, t.Year() <= 9999
}

// isDuration accepts the grammar of RFC 3339, appendix A: units in order, without gaps as in P1Y1D, weeks alone.
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

// units goes over numbers with consecutive units of those in order, and returns the index after them; i if there are none.
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

// ParseDuration reads what isDuration accepts. ok is false for other texts and for what time.Duration can not hold: years and months, whose length
// depends on where they begin, and more than 292 years.
func ParseDuration(s string) (sum time.Duration, ok bool) {
	if !isDuration(s) {
		return 0, false
	}
	units := map[byte]time.Duration{'W': 7 * 24 * time.Hour, 'D': 24 * time.Hour}
	for i := 1; i < len(s); i++ {
		if s[i] == 'T' {
			units = map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second}
			continue
		}
		n := digitsAt(s, i)
		count, err := strconv.ParseInt(s[i:i+n], 10, 64)
		i += n
		unit := units[s[i]]
		if err != nil || count != 0 && (unit == 0 || count > int64(math.MaxInt64-sum)/int64(unit)) {
			return 0, false
		}
		sum += time.Duration(count) * unit
	}
	return sum, true
}
