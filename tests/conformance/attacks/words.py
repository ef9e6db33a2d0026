"""The text and numbers with which a tenant tries to break out of a field."""

from __future__ import annotations

from random import Random

LONG = 65_536
SEPARATORS = (
    "x,y",
    "/",
    "x/y",
    "a/b/c/d",
    ".",
    "..",
    "../..",
    "a\nb",
    "\r\n",
    "a:b",
    "a|b",
    "=",
    "a=b,c=d",
    "?x=1",
    "#",
)
ESCAPES = (
    "\x1b[2J",
    "\x1b]0;title\x07",
    "\x00",
    "\x7f",
    "\x08",
    "\\x00",
    "\\u0000",
    "\ufeff",
    "\u202e",
    "\u2028",
    "%00",
)
FORMATS = (
    "%s%s%s%n",
    "{0}",
    "{ref.name.__class__}",
    "${HOME}",
    "$(id)",
    "`id`",
    "{{.}}",
    "%2e%2e%2f",
    "'; DROP",
    '"',
    "*",
)
PATTERNS = ("(a+)+$", "a" * 40 + "!", "(((((((((((", "[" * 50, ">=1.0.0 <2.0.0 " * 20, "^" * 30)
YAML = ("&a [*a]", "!!python/object:os.system", "- - - - -", "null", "~", "yes", "1e400", "0x10", "{", "---\n...")
GROWING = (
    "kind: Secret\ndata:\n  x: y\na0: &a0 [x]\n"
    + "".join(f"a{n}: &a{n} [{f'*a{n - 1},' * 9}]\n" for n in range(1, 40)),
    '{"kind": "Secret", "data": ' + "[" * 900 + "]" * 900 + "}",
)
"""Text that whoever looks for a Secret in it must not open."""
UNICODE = ("ß", "İ", "ｕｎｉｃｏｄｅ", "👩‍👩‍👧", "a\u0301", "\ud7ff", "\U0010ffff", "ﷺ" * 50)
KNOWN = (
    "cluster-admin", "kube-system", "system:masters", "system:serviceaccount:kube-system:default", "admin", "olm",
    "default", "kubernetes", "olm.managed", "true", "secrets", "v1.", "ClusterServiceVersion", "*",
)  # fmt: skip
ADDRESSES = (
    "127.0.0.1:1/x:latest", "localhost:1/x", "[::1]:1/x", "0x7f000001:1/x", "2130706433:1/x", "169.254.169.254/latest",
    "10.0.0.1/x:y", "kubernetes.default.svc/x:y", "http://127.0.0.1/x", "file:///etc/passwd", "oci:/etc", "/etc",
    "x@sha256:" + "0" * 64, "x@sha256:..", "user:password@host/x", "host/../../x", "host//x",
)  # fmt: skip
NUMBERS = (0, 1, -1, 2**31 - 1, -(2**31), 2**53, 2**63 - 1)
ALL = (*SEPARATORS, *ESCAPES, *FORMATS, *PATTERNS, *YAML, *GROWING, *UNICODE, *KNOWN, *ADDRESSES)
LEGAL_NAMES = ("a", "a.b.c", "0", "x" * 50, "cluster-admin", "kube-system", "olm", "v1.secrets", "con", "null", "true")
"""Beginnings of names that an API server accepts."""
ONE_LONG_IN = 150


def hostile(rng: Random, theirs: tuple[str, ...]) -> str:
    """A text; `theirs` are names and uids of objects of others."""
    if not rng.randrange(ONE_LONG_IN):
        return rng.choice(("A", "é", "a,", "/", "[", "\n")) * (LONG // 2)
    found = rng.choice((*ALL, *theirs))
    return found + rng.choice(ALL) if not rng.randrange(5) else found
