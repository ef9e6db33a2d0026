"""The namespaces that an operator watches (v1.md §18)."""

from __future__ import annotations

from shared.domain.extension.render.model import ALL, MULTI, OWN, SINGLE, Bundle, NotRenderedError


def targets_of(bundle: Bundle, install_namespace: str, watched: str | None) -> tuple[str, ...]:
    """The namespace that was configured, else all. NotRenderedError when the bundle does not support that."""
    targets = (watched,) if watched is not None else ("",) if ALL in bundle.install_modes else ()
    why = _obstacle(bundle.install_modes, install_namespace, targets)
    if why:
        raise NotRenderedError(f"invalid option(s): invalid target namespaces [{' '.join(targets)}]: {why}")
    return targets


def _obstacle(modes: frozenset[str], install_namespace: str, targets: tuple[str, ...]) -> str:
    supported = f"supported install modes [{' '.join(sorted(modes))}]"
    match targets:
        case ():
            return f"{'at least' if MULTI in modes else 'exactly'} one target namespace must be specified"
        case ("",):
            return "" if ALL in modes else f"{supported} do not support targeting all namespaces"
        case (namespace,) if namespace == install_namespace:
            return "" if OWN in modes else f"{supported} do not support targeting own namespace"
    return "" if SINGLE in modes else f"{supported} do not support target namespaces [{' '.join(targets)}]"
