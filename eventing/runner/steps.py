"""Finds steps by name and lists the ports in the signature of each."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, get_type_hints

from eventing.events.former import step_now
from shared.kinds import Ref
from shared.step import Outcome


class UnknownStep(LookupError):
    """No file of that name contains a step, or its signature is not that of a step."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step, ready to be called."""

    name: str
    call: Callable[..., Outcome]
    ports: tuple[tuple[str, type], ...]
    """The pairs (parameter, port) in the order of the signature, without the ref."""
    code: str
    """Version of the distribution and digest of the step's file."""

    def names(self, port: type) -> bool:
        """Whether the step names that port."""
        return any(named is port for _, named in self.ports)


class Steps:
    """The steps of one package (`functions`), each imported when it is first used."""

    def __init__(self, package: str = "functions") -> None:
        self._package = package
        self._loaded: dict[str, Step] = {}

    def __getitem__(self, name: str) -> Step:
        """The step `<group>/<step>`, also by its former name. UnknownStep says what is missing."""
        name = step_now(name)
        if name not in self._loaded:
            self._loaded[name] = _load(self._package, name)
        return self._loaded[name]


def _load(package: str, name: str) -> Step:
    group, _, verb = name.partition("/")
    path = f"{package}.{group}.{verb}"
    try:
        module = import_module(path)
    except ModuleNotFoundError as error:
        if error.name is None or not path.startswith(error.name):
            raise
        raise UnknownStep(f"step {name!r}: there is no module {path}") from error
    call = getattr(module, verb, None)
    if not callable(call):
        raise UnknownStep(f"step {name!r}: module {path} has no function {verb}")
    return step_of(name, call, _code(module.__file__))


def step_of(name: str, call: Callable[..., Outcome], code: str) -> Step:
    """The step made from a function. UnknownStep when its signature is not that of a step."""
    hints = get_type_hints(call)
    first, *rest = inspect.signature(call).parameters
    if hints.get(first) is not Ref:
        raise UnknownStep(f"step {name!r}: its first parameter is a Ref, not {hints.get(first)}")
    return Step(name, call, tuple((parameter, hints[parameter]) for parameter in rest), code)


def _code(file: str | None) -> str:
    digest = hashlib.blake2b(Path(file).read_bytes() if file else b"", digest_size=4).hexdigest()
    return f"{_distribution()}+{digest}"


@cache
def _distribution() -> str:
    try:
        return version("olm-functions")
    except PackageNotFoundError:
        return "0"


def arguments(step: Step, values: Callable[[type], Any]) -> dict[str, Any]:
    """The keyword arguments of a call: for each parameter the value that `values` returns for its port."""
    return {parameter: values(port) for parameter, port in step.ports}
