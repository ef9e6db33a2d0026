"""Objects in files of a user, compared with the models that our definitions are generated from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any, Final

from eventing.cli.failure import USAGE, CliError
from shared.domain.bundle.shape import name_in
from shared.domain.shape import word_for

_DESIRED: Final[Mapping[str, str]] = {
    "string_type": "a text",
    "int_type": "a whole number",
    "model_type": "an object",
    "dict_type": "an object",
    "sequence_str": "a list",
    "is_instance_of": "a list",
}
"""What is wanted, by pydantic's name of what is wrong."""
_LONGEST: Final = 40
_LIMITS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "literal_error": lambda limit: str(limit["expected"]),
    "string_too_short": lambda limit: f"at least {limit['min_length']} characters",
    "string_too_long": lambda limit: f"at most {limit['max_length']} characters",
    "too_long": lambda limit: f"at most {limit['max_length']} items",
    "greater_than_equal": lambda limit: f"at least {limit['ge']}",
    "less_than_equal": lambda limit: f"at most {limit['le']}",
}


def check(file: str, manifest: Mapping[str, Any]) -> None:
    """CliError with the file, the object, and each field that no API server would take: what is wanted, what is there.

    What is absent is no error here: a verb that needs it says so.
    """
    from pydantic import ValidationError

    from shared.api.cluster_catalog import ClusterCatalog
    from shared.api.cluster_extension import ClusterExtension
    from shared.api.cluster_object_set import ClusterObjectSet

    models = {model.__name__: model for model in (ClusterCatalog, ClusterExtension, ClusterObjectSet)}
    kind = str(manifest.get("kind") or "")
    try:
        if kind in models:
            models[kind].model_validate(manifest)
    except ValidationError as error:
        wrong = [one for one in error.errors(include_url=False) if one["type"] != "missing"]
        if wrong:
            found = "; ".join(map(_sentence, wrong))
            raise CliError(f"{file}: {kind} {name_in(manifest)}: {found}", USAGE) from error


def _sentence(error: Mapping[str, Any]) -> str:
    limit = _LIMITS.get(error["type"])
    desired = limit(error.get("ctx") or {}) if limit else _DESIRED.get(error["type"], "")
    if not desired:
        return f"{_path(error['loc'])}: {error['msg'][:1].lower()}{error['msg'][1:]}"
    got = _shown(error["input"]) if limit else word_for(error["input"])
    return f"{_path(error['loc'])}: wanted {desired}, got {got}"


def _path(location: Sequence[str | int]) -> str:
    return "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in location).removeprefix(".")


def _shown(value: object) -> str:
    """A value, or its length where it is too long to be shown."""
    if not isinstance(value, Sized) or len(value) <= _LONGEST:
        return repr(value)
    return f"{len(value)} {'characters' if isinstance(value, str) else 'items'}"
