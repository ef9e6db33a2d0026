"""Checks whether an operator can watch the namespaces that its group selects (csv.md §3.2, §3.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from shared.api.views import InstallMode

ALL_NAMESPACES = ""
_WATCHED = {"OwnNamespace": "own namespace", "SingleNamespace": "one namespace", "AllNamespaces": "all namespaces"}
_ALL_AND_MORE = "operatorgroup has invalid selected namespaces, NamespaceAll found when |selected namespaces| > 1"
_NOTHING = "operatorgroup has invalid selected namespaces, cannot configure to watch zero namespaces"


def duplicates(modes: Sequence[InstallMode]) -> str | None:
    """The message about a mode that occurs twice, or None."""
    types = [mode.type for mode in modes]
    if len(types) == len(set(types)):
        return None
    listed = " ".join(f"{{{mode.type} {str(mode.is_supported).lower()}}}" for mode in modes)
    return f"InstallMode list contains duplicates, cannot make set: [{listed}]"


def supports(modes: Sequence[InstallMode], own: str, targets: Sequence[str]) -> str | None:
    """Why an operator in the namespace `own` cannot watch the targets, or None; a mode not listed is not supported."""
    supported = {mode.type: mode.is_supported for mode in modes}
    match tuple(targets):
        case ():
            return _NOTHING
        case (only,):
            mode = {own: "OwnNamespace", ALL_NAMESPACES: "AllNamespaces"}.get(only, "SingleNamespace")
            return _refusal(supported, mode, _WATCHED[mode])
        case several:
            watched = f"{len(several)} namespaces"
            refusal = _refusal(supported, "MultiNamespace", watched)
            if refusal is None and own in several:
                refusal = _refusal(supported, "OwnNamespace", _WATCHED["OwnNamespace"])
            if refusal is None and ALL_NAMESPACES in several:
                refusal = _ALL_AND_MORE
            return refusal


def first_supported(modes: Sequence[InstallMode], own: str, choices: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The first of some selections that an operator in the namespace `own` can watch; empty when it can watch none."""
    return next((targets for targets in choices if supports(modes, own, targets) is None), ())


def _refusal(supported: Mapping[str, bool], mode: str, watched: str) -> str | None:
    if supported.get(mode):
        return None
    return f"{mode} InstallModeType not supported, cannot configure to watch {watched}"
