"""Authenticates users by their tokens, and issues the tokens of service accounts."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from datetime import UTC, datetime

import orjson

from eventing.local.apiserver.calls import User
from eventing.local.apiserver.failures import bad_value, invalid, unauthorized
from eventing.local.apiserver.world import World
from shared.api.manifest import Manifest, ReadOnly, timestamp, uid_of

MASTERS = "system:masters"
ADMIN = User("admin", (MASTERS, "system:authenticated"), "admin")
ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
DEFAULT_TOKEN_SECONDS = 3600
TOKEN_SECONDS = range(600, 2**32 + 1)
"""How long a token may be valid."""


def authenticate(header: str, world: World) -> User:
    """The user of an Authorization header."""
    if not header:
        return ANONYMOUS
    user = user_of(header.removeprefix("Bearer ").strip(), world)
    if user is None:
        raise unauthorized()
    return user


def user_of(token: str, world: World) -> User | None:
    """The owner of a token; None for one that is not known or has expired."""
    if hmac.compare_digest(token.encode("utf-8", "surrogateescape"), world.token.encode()):
        return ADMIN
    return account_of(token, world)


def account_groups(name: str) -> tuple[str, ...]:
    """The groups that the name of a service account implies."""
    _, _, rest = name.partition("system:serviceaccount:")
    return ("system:serviceaccounts", f"system:serviceaccounts:{rest.partition(':')[0]}") if rest else ()


def _signature(body: bytes, secret: bytes) -> str:
    return _b64(hmac.digest(secret, body, hashlib.sha256))


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def token_for(account: ReadOnly, seconds: int, world: World) -> tuple[str, int]:
    """A signed token of a service account, and the time at which it expires."""
    meta, end = account["metadata"], int(time.time()) + seconds
    claims = {
        "iss": "https://kubernetes.default.svc", "exp": end,
        "sub": f"system:serviceaccount:{meta['namespace']}:{meta['name']}", "uid": meta["uid"],
    }  # fmt: skip
    body = f"{_b64(orjson.dumps({'alg': 'HS256', 'typ': 'JWT'}))}.{_b64(orjson.dumps(claims))}"
    return f"{body}.{_signature(body.encode(), world.secret)}", end


def granted(request: ReadOnly, account: ReadOnly, world: World) -> Manifest:
    """Answer a TokenRequest for a service account. Failure when the token would expire too soon."""
    seconds = (request.get("spec") or {}).get("expirationSeconds", DEFAULT_TOKEN_SECONDS)
    if seconds not in TOKEN_SECONDS:
        what = "less than 10 minutes" if seconds < TOKEN_SECONDS.start else "larger than 2^32 seconds"
        defect = bad_value("spec.expirationSeconds", seconds, f"may not specify a duration {what}")
        raise invalid("TokenRequest", "authentication.k8s.io", "", [defect])
    token, end = token_for(account, seconds, world)
    status = {"token": token, "expirationTimestamp": timestamp(datetime.fromtimestamp(end, UTC))}
    spec = {**(request.get("spec") or {}), "expirationSeconds": seconds}
    head = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "metadata": {}}
    return {**head, "spec": spec, "status": status}


def account_of(token: str, world: World) -> User | None:
    """The service account of a token; None when the token is not valid or the account was deleted."""
    body, _, signature = token.rpartition(".")
    desired = _signature(body.encode("utf-8", "surrogateescape"), world.secret).encode()
    if not hmac.compare_digest(desired, signature.encode("utf-8", "surrogateescape")):
        return None
    claims = orjson.loads(base64.urlsafe_b64decode(body.partition(".")[2] + "=="))
    _, _, namespace, name = claims["sub"].split(":")
    account = world.store.get(("/serviceaccounts", namespace, name))
    if account is None or uid_of(account.manifest) != claims["uid"] or claims["exp"] < time.time():
        return None
    return User(claims["sub"], (*account_groups(claims["sub"]), "system:authenticated"), claims["uid"])
