package check

import (
	"math"
	"math/big"
	"math/bits"
	"sync"
)

// maxPower bounds the decimal exponents of longFloat: it is enough for numbers that programs write with 17 digits.
const maxPower = 64

// power is the upper 128 bits of a power of ten, truncated; the first bit is 1.
type power struct{ hi, lo uint64 }

// powers has the powers of ten from -maxPower to maxPower.
var powers = sync.OnceValue(func() *[2*maxPower + 1]power {
	t := new([2*maxPower + 1]power)
	for e := range maxPower + 1 {
		p := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(e)), nil)
		t[maxPower+e] = upper(new(big.Int).Lsh(p, 128)) // shifted, so that there are enough bits
		t[maxPower-e] = upper(new(big.Int).Quo(new(big.Int).Lsh(big.NewInt(1), 256+uint(p.BitLen())), p))
	}
	return t
})

// upper returns the upper 128 bits of n.
func upper(n *big.Int) power {
	n.Rsh(n, uint(n.BitLen()-128))
	return power{hi: new(big.Int).Rsh(n, 64).Uint64(), lo: new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64()}
}

// longFloat returns the float64 nearest to m × 10^exp by the method of Eisel and Lemire ("Number Parsing at a Gigabyte per Second", 2021): m times
// the power of ten, truncated, in 128 bits. ok is false where the truncated bits could decide, which is hardly ever, or where exp is too large or small.
func longFloat(m uint64, exp int) (v float64, ok bool) {
	if m == 0 || exp < -maxPower || exp > maxPower {
		return 0, m == 0
	}
	p := powers()[exp+maxPower]
	shift := bits.LeadingZeros64(m)
	m <<= shift
	hi, lo := bits.Mul64(m, p.hi)
	const below = 1<<9 - 1 // of hi: the bits below those of a mantissa and the one that rounds it
	if hi&below == below && lo+m < lo {
		more, least := bits.Mul64(m, p.lo)
		sum, carry := bits.Add64(lo, more, 0)
		if hi, lo = hi+carry, sum; hi&below == below && lo == math.MaxUint64 && least+m < least {
			return 0, false
		}
	}
	top := int(hi >> 63)
	mantissa := hi >> (top + 9) // 54 bits
	if lo == 0 && hi&below == 0 && mantissa&3 == 1 {
		return 0, false // half-way, as far as these bits tell
	}
	mantissa = (mantissa + mantissa&1) >> 1
	// 10^exp lies between two powers of 2, of which the lower one has this exponent.
	lower := exp * 217706 >> 16
	// With exponents up to maxPower no number is subnormal, so math.Ldexp, which took a third of the time, is not needed.
	return math.Float64frombits(uint64(1022+52+lower+top+11-shift)<<52 + mantissa), true
}
