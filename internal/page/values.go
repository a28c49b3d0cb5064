package page

import (
	"bottleneck/internal/report"
	"fmt"
	"strings"
)

// placeText is a place as editors open it; "" where no file is known.
func placeText(file string, line int) string {
	file = report.CleanPath(file)
	if file == "" || line <= 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

func fromInt(v *int) *float64 {
	if v == nil {
		return nil
	}
	f := float64(*v)
	return &f
}

func fromInt64(v *int64) *float64 {
	if v == nil {
		return nil
	}
	f := float64(*v)
	return &f
}

// scaled is a value in another unit.
func scaled(v *float64, by float64) *float64 {
	if v == nil {
		return nil
	}
	f := *v * by
	return &f
}

// ratio is a ÷ b, nil where b is 0.
func ratio(a, b float64) *float64 {
	if b == 0 {
		return nil
	}
	f := a / b
	return &f
}

func oneLine(parts []string) string { return strings.Join(parts, " · ") }

// shellQuote writes a path so that a shell reads it as one word.
func shellQuote(path string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%"
	if path != "" && strings.Trim(path, plain) == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
