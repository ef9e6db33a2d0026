"""Match conditions of webhooks: CEL expressions over a request, which decide whether it is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from shared.api.manifest import ReadOnly


class Inconclusive(Exception):
    """No condition is false, but one cannot be evaluated; the message says why."""


def hold(conditions: Sequence[ReadOnly], variables: Mapping[str, Any]) -> bool:
    """Whether all conditions are true of `object`, `oldObject` and `request`. Inconclusive."""
    faults = []
    for condition in conditions:
        outcome = _evaluated(str(condition["expression"]), variables)
        if outcome is False:
            return False
        if outcome is not True:
            faults.append(outcome)
    if faults:
        raise Inconclusive(faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")
    return True


def _evaluated(expression: str, variables: Mapping[str, Any]) -> bool | str:
    """The value, or why there is none."""
    try:
        value = _compiled(expression).eval(data=dict(variables))
    except RuntimeError as error:
        return str(error)
    found = value.value()
    return found if isinstance(found, bool) else f"{found}"


def fault_of(expression: str) -> str:
    """Why an expression is none, or is no condition; empty when it is one."""
    try:
        compiled = _compiled(expression)
    except RuntimeError as error:
        return f"compilation failed: {error}"
    kinds = _environment()[1]
    return "" if compiled.return_type() in kinds else "must evaluate to bool"


@lru_cache(maxsize=1024)
def _compiled(expression: str) -> Any:
    return _environment()[0].compile(expression)


@cache
def _environment() -> tuple[Any, tuple[Any, ...]]:
    from cel_expr_python import cel  # native code: loaded only when a webhook has conditions

    kind = cel.Type
    variables = dict.fromkeys(("object", "oldObject", "request"), kind.DYN)
    return cel.NewEnv(variables=variables), (kind.BOOL, kind.DYN)
