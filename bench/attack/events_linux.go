package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
)

// maxDecoded is the largest text whose structure is changed, not only its bytes.
const maxDecoded = 4 << 20

// restructure decodes a JSON text, leaves most of it out and changes values by their places; not ok where the text is none.
func restructure(rng *rand.Rand, text []byte) (out []byte, ok bool) {
	if len(text) > maxDecoded {
		return nil, false
	}
	var doc any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&doc) != nil {
		return nil, false
	}
	doc = thin(rng, doc, 0)
	for range 1 + rng.IntN(10) {
		doc = change(rng, doc)
	}
	out, err := json.Marshal(doc)
	return out, err == nil
}

// thin keeps a few of the elements of long lists: short traces are where divisions by nothing happen.
func thin(rng *rand.Rand, value any, depth int) any {
	switch v := value.(type) {
	case []any:
		if keep := 1 + rng.IntN(pick(rng, 3, 12, 60, 2000)); len(v) > keep && len(v) > 4 {
			from := rng.IntN(len(v) - keep + 1)
			if v = v[from : from+keep]; rng.IntN(2) == 0 {
				rng.Shuffle(len(v), func(i, k int) { v[i], v[k] = v[k], v[i] })
			}
			return v
		}
	case map[string]any:
		if depth < 2 {
			for k := range v {
				v[k] = thin(rng, v[k], depth+1)
			}
		}
	}
	return value
}

// change replaces one value somewhere below.
func change(rng *rand.Rand, value any) any {
	switch v := value.(type) {
	case []any:
		if len(v) > 0 && rng.IntN(8) > 0 {
			i := rng.IntN(len(v))
			v[i] = change(rng, v[i])
			return v
		}
		if len(v) > 0 && rng.IntN(2) == 0 {
			return append(v, slices.Repeat([]any{v[rng.IntN(len(v))]}, 1+rng.IntN(50))...)
		}
	case map[string]any:
		if len(v) > 0 && rng.IntN(12) > 0 {
			keys := sortedKeys(v)
			k := keys[rng.IntN(len(keys))]
			switch rng.IntN(10) {
			case 0:
				delete(v, k)
			case 1:
				v[keys[rng.IntN(len(keys))]] = v[k]
			default:
				v[k] = change(rng, v[k])
			}
			return v
		}
	}
	return evilValue(rng)
}

// evilValue is a number, a text or a structure that was not expected.
func evilValue(rng *rand.Rand) any {
	switch rng.IntN(6) {
	case 0:
		return pick(rng, evilTexts[:17]...)
	case 1:
		return []any{json.Number("1"), nil, map[string]any{}}
	case 2:
		return nil
	}
	return json.Number(pick(rng, "0", "0", "-1", "1", "1e308", "9223372036854775807", "-9223372036854775808", "18446744073709551616",
		"1e-9", "4294967296", "0.001"))
}
