"""What looks like a secret in arguments: the launcher's rule (internal/record/secrets.go); internal/record/testdata/secrets.json is the
table of both. A name like one's hides its value, tokens of well-known services and passwords in URLs are hidden wherever they stand."""

import re

HIDDEN = "***"
WORD = re.compile(
    r"(password|passwd|passw|pwd|secret|token|api[-_]?key|access[-_]?key|account[-_]?key|private[-_]?key|credential|"
    r"(^|[-_.])auth\Z|authorization\Z|passphrase|signature\Z|[-_]sig\Z)",
    re.I,
)
COUNTED = re.compile(  # numbers of tokens of a language model
    r"(max|num|n|min|total|new|pad|bos|eos|per|batch)[-_]?[a-z]*[-_]?tokens?|tokens?[-_]?(per|len|count|id|size|type)|"
    r"tokeni[sz]er|tokens\Z",
    re.I,
)
VALUE = re.compile(
    r"(^|[^A-Za-z0-9])(?:hf_[A-Za-z0-9]{12,}|sk-[A-Za-z0-9_\-]{16,}|[rs]k_(?:live|test)_[A-Za-z0-9]{12,}|gh[opsur]_[A-Za-z0-9]{12,}|"
    r"github_pat_[A-Za-z0-9_]{12,}|glpat-[A-Za-z0-9_\-]{12,}|xox[abeprs]-[A-Za-z0-9\-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|"
    r"eyJ[A-Za-z0-9_\-.]{12,}|"
    r"AIza[A-Za-z0-9_\-]{30,}|ya29\.[A-Za-z0-9_\-]{12,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_\-]{30,}|nvapi-[A-Za-z0-9_\-]{20,}|"
    r"gsk_[A-Za-z0-9]{20,}|dckr_pat_[A-Za-z0-9_\-]{12,}|r8_[A-Za-z0-9]{20,})"
)
PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
URL_PASSWORD = re.compile(r"(://[^/\s:@\"']*:)[^/\s\"']+@", re.A)
ASSIGNED = re.compile(r"([A-Za-z0-9_.\-]{1,100})[\"']?\s?[:=]\s?", re.A)
ASSIGNED_VALUE = re.compile(
    r"(?:(?:[Bb][Ee][Aa][Rr][Ee][Rr]|[Bb][Aa][Ss][Ii][Cc]|[Tt][Oo][Kk][Ee][Nn])\s+)?"
    r"(?:\"[^\"]*\"|'[^']*'|[^\s,;&\"')}\]]+)",
    re.A,
)


def arguments(argv):
    """The arguments without what looks like a secret."""
    shown, hide = [], False
    for argument in argv:
        if hide and not argument.startswith("-"):
            shown.append(HIDDEN)
            hide = False
            continue
        hide = argument.startswith("-") and secret(argument)
        shown.append(text(argument))
    return shown


def text(whole):
    """A text without what looks like a secret."""
    name, equals, value = whole.partition("=")
    if value and secret(name):
        return name + equals + HIDDEN
    if PRIVATE_KEY.search(whole):
        return HIDDEN
    whole = URL_PASSWORD.sub(r"\g<1>" + HIDDEN + "@", whole)
    return VALUE.sub(r"\g<1>" + HIDDEN, without_assigned(whole))


def without_assigned(whole):
    """Hides the values that stand behind secrets' names, such as in a query, a header or a line of code."""
    parts, done = [], 0
    for match in ASSIGNED.finditer(whole):
        if match.start() < done or not secret(match.group(1)):
            continue
        value = ASSIGNED_VALUE.match(whole, match.end())
        if value is not None:
            parts += [whole[done : match.end()], HIDDEN]
            done = value.end()
    return "".join(parts) + whole[done:]


def secret(name):
    """Whether a variable's or flag's name is that of a secret."""
    if len(name.encode("utf-8", "replace")) > 100 or any(space in name for space in " \t\n"):
        return False
    return WORD.search(name) is not None and COUNTED.search(name) is None
