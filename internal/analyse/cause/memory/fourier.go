package memory

import (
	"regexp"
	"strconv"
	"strings"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindFourierLength names Fourier transforms whose length has a large prime factor: they take several times as long as those of
// the next length that factors into small primes.
func FindFourierLength(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	l, row := &fourierLength{prime: price.FourierPrime}, price.FourierLength
	if c.OnDevice() {
		l.prime, row = price.FourierOnDevice, price.FourierDevice
	}
	f, t, ok := sequenceAnywhere(c, l, finding.Finding{Cause: finding.MemoryBound, Sub: "fft-length"}, fourierLine, row)
	if !ok {
		return nil
	}
	longer := longerLength(l.length)
	f.Title = wording.Say("memory.title-fft-length", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.fft-length", wording.Time("time", t), c.Said(),
		wording.Count("length", l.length), wording.Count("prime", largestPrime(l.length)), wording.Count("longer", longer))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-fft-length", wording.Named("longer", strconv.FormatInt(longer, 10)),
		wording.Named("length", strconv.FormatInt(l.length, 10)))}
	f.Caveat = []wording.Text{wording.Say("memory.caveat-fft-length")}
	return []finding.Draft{f}
}

// fourierLine matches a line that may transform.
var fourierLine = regexp.MustCompile(`fft|Fft|FFT`)

// fourierLength is a transform by torch.fft with a length that has a large prime factor. Those inside of other operators, as of a
// spectrogram's windows, are none: their length is another argument.
type fourierLength struct {
	prime  int64 // the least prime factor that is large
	most   int64 // numbers in the largest of them
	length int64 // the longest there with a large prime factor
}

// transforms are the operators that transform, with the numbers of the argument that is the last dimension's length where the shape does
// not tell it, 0 else.
var transforms = map[string]int{"aten::_fft_r2c": 0, "aten::_fft_c2c": 0, "aten::_fft_c2r": 3}

func (l *fourierLength) wants(name string) bool { _, ok := transforms[name]; return ok }

// passes leaves out what else has the number of a transform that no gradient goes through: the next operator has the same one.
func (l *fourierLength) passes(name string) bool { return strings.Contains(name, "Fft") }

func (l *fourierLength) next(op *outerOp) (whole []outerOp, counts float64) {
	if op == nil || !strings.HasPrefix(op.name, "aten::fft_") && !strings.HasPrefix(op.name, "aten::_fft_") {
		return nil, 0
	}
	all, slow := 0, 0
	for i := range op.inside {
		in := &op.inside[i]
		lengths := transformed(in)
		for _, n := range lengths {
			if all++; n < price.FourierLeast || n > price.FourierMost || largestPrime(n) < l.prime {
				continue
			}
			slow++
			if size := arguments.Product(in.shapes[0]); size > l.most || size == l.most && n > l.length {
				l.most, l.length = size, n
			}
		}
	}
	if slow == 0 {
		return nil, 0
	}
	return []outerOp{*op}, float64(slow) / float64(all)
}

// transformed are the lengths of the dimensions along which an operator transforms; none where they were not recorded.
func transformed(in *shapedOp) (lengths []int64) {
	if len(in.shapes) == 0 || len(in.concrete) < 2 {
		return nil
	}
	lengths = lengthsAlong(in.concrete[1], in.shapes[0])
	if at := transforms[in.name]; at > 0 && lengths != nil {
		if len(in.concrete) <= at {
			return nil
		}
		n, err := strconv.ParseInt(in.concrete[at], 10, 64)
		if err != nil {
			return nil
		}
		lengths[len(lengths)-1] = n
	}
	return lengths
}

// longerLength is the next length from n on whose prime factors are at most 7, a multiple of four: odd ones take longer.
func longerLength(n int64) int64 {
	for n += -n & 3; largestPrime(n) > 7; {
		n += 4
	}
	return n
}

// largestPrime is the largest prime factor of a number; 1 of those that have none.
func largestPrime(n int64) int64 {
	largest := int64(1)
	for p := int64(2); p*p <= n; p++ {
		for ; n%p == 0; n /= p {
			largest = p
		}
	}
	return max(largest, n)
}
