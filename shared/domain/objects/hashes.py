"""The content hashes that OLM puts into names and labels (csv.md §16)."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha224
from typing import Final

from shared.api import fields
from shared.api.manifest import ReadOnly
from shared.domain.go_types import encoding

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_FNV_OFFSET: Final = 0xCBF29CE484222325
_FNV_PRIME: Final = 0x100000001B3
_LABEL_LENGTH: Final = 63


def in_base(base: int, digest: bytes) -> str:
    """A digest as a big-endian number in a base up to 62, without padding."""
    number = int.from_bytes(digest, "big")
    text = ""
    while number:
        number, digit = divmod(number, base)
        text = _DIGITS[digit] + text
    return text or _DIGITS[0]


def text_hash(text: str) -> str:
    """Base 62 of the SHA-224 of a text, e.g. `<ns>/<group>/<suffix>` in the names of an OperatorGroup's roles."""
    return in_base(62, sha224(text.encode()).digest())


def content_hash(value: object, struct: str = "Any") -> str:
    """Hash of the JSON of a value (`olm.permissions.hash`)."""
    return text_hash(encoding.encode(value, struct))


def deep_hash(value: object, struct: str = "Any") -> str:
    """Hash of the JSON of a value and a newline (names of roles, hash of a Deployment)."""
    return text_hash(encoding.encode(value, struct) + "\n")


def rules_hash(rules: Sequence[ReadOnly] | None) -> str:
    """`olm.permissions.hash` of a Role or ClusterRole."""
    return content_hash(rules, "PolicyRule")


def binding_hash(role_ref: ReadOnly, subjects: Sequence[ReadOnly]) -> str:
    """`olm.permissions.hash` of a RoleBinding or ClusterRoleBinding."""
    return content_hash({"RoleRef": role_ref, "Subjects": subjects}, "Binding")


def role_name(csv: str, permission: ReadOnly) -> str:
    """Name of the Role, and of its RoleBinding, that grants a namespaced permission."""
    digest = deep_hash({"name": csv, "permission": permission}, "Grant")
    return joined(f"{csv}-{fields.text(permission, 'serviceAccountName')}", digest)


def cluster_role_name(csv: str, namespace: str, permission: ReadOnly) -> str:
    """Name of the ClusterRole, and of its ClusterRoleBinding, that grants a cluster permission."""
    return joined(csv, deep_hash({"name": csv, "namespace": namespace, "permission": permission}, "Grant"))


def joined(base: str, suffix: str) -> str:
    """`base-suffix`, with the base truncated if the whole is too long; 63 characters are not truncated, as in OLM."""
    if len(base) + len(suffix) > _LABEL_LENGTH:
        base = base[: _LABEL_LENGTH - len(suffix) - 1]
    return f"{base}-{suffix}"


def deployment_hash(spec: ReadOnly) -> str:
    """`olm.deployment-spec-hash` of a computed Deployment spec."""
    return deep_hash(spec, "DeploymentSpec")


def fnv1a(text: str) -> str:
    """64-bit FNV-1a in lower-case hex, without padding."""
    value = _FNV_OFFSET
    for byte in text.encode():
        value = (value ^ byte) * _FNV_PRIME % 2**64
    return f"{value:x}"


def api_hash(kind: str, version: str, group: str) -> str:
    """Hash of a provided API in the labels that aggregate roles."""
    return fnv1a(f"{kind}.{version}.{group}")


def alongside_key(namespace: str, csv: str) -> str:
    """The end of the annotation key on a CRD for the CSV with which it was installed."""
    return fnv1a(f"{namespace}/{csv}")
