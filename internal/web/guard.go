package web

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// NewToken makes the secret part of the page's address: 144 random bits.
func NewToken() string {
	b := make([]byte, 18)
	rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// policy lets the page run its own script and style, talk to its own server and do nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// secure sets what every answer carries.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer") // the address holds the token
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// refusal is why a request is not answered, in words for whoever typed the address; "" where it is.
func (s *server) refusal(r *http.Request) (status int, why string) {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return http.StatusMethodNotAllowed, "This server only shows a report: it takes no " + printable(r.Method) + "."
	case !s.hostAllowed(r.Host):
		return http.StatusForbidden,
			fmt.Sprintf("This server does not know itself as %q. If that is its name, or a proxy's in front of it: "+
				"bottleneck view --allow-host NAME", printable(r.Host))
	case !originAllowed(r):
		return http.StatusForbidden, "Another site's page asks for this report: refused."
	}
	return 0, ""
}

// hostAllowed says whether a browser that asks for this name can mean this server. A name that somebody else's DNS leads here is
// refused: the page that did so could read the answers. An address is no name.
func (s *server) hostAllowed(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	for _, allowed := range s.opt.Hosts {
		if allowed = strings.ToLower(allowed); name == allowed {
			return true
		}
	}
	return false
}

// originAllowed says whether a request comes from the page itself or from somebody who typed the address.
func originAllowed(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin" || site == "none" || r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// inside is the path behind the token; ok is false where the token is another.
func (s *server) inside(path string) (rest string, ok bool) {
	first, rest, slash := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(first), []byte(s.opt.Token)) != 1 {
		return "", false
	}
	if !slash {
		return "", true
	}
	return "/" + rest, true
}

// printable is a text of a request as it may stand in an answer of plain text.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), 200)]
}
