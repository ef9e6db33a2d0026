"""Bundles that OLM v1 does not install at all, whatever they are configured to be (v1.md §16.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from shared.domain.extension.render.model import ALL, OWN, SINGLE, SINGLE_OWN_GATE, Bundle, NotRenderedError, Wishes

_WEBHOOKS: Final = "webhookDefinitions are not supported"
_WAYS_OUT: Final[Mapping[str, str]] = {
    _WEBHOOKS: "they are with --cert-provider cert-manager (or openshift-service-ca), if the cluster has one of those",
}


def check_supported(bundle: Bundle, wishes: Wishes) -> None:
    """NotRenderedError for the first thing that is not supported."""
    why = _obstacle(bundle, wishes)
    if why:
        raise NotRenderedError(f"unsupported bundle: {why}", way_out=_WAYS_OUT.get(why, ""))


def _obstacle(bundle: Bundle, wishes: Wishes) -> str:
    if bundle.csv["spec"]["apiservicedefinitions"].get("owned"):
        return "apiServiceDefintions are not supported"
    if bundle.webhooks and wishes.cert_provider == "none":
        return _WEBHOOKS
    if not wishes.is_on(SINGLE_OWN_GATE) and ALL not in bundle.install_modes:
        return f"bundle does not support {ALL} install mode"
    if not bundle.install_modes & {ALL, SINGLE, OWN}:
        return f"bundle must support at least one of [{ALL} {SINGLE} {OWN}] install modes"
    return ""
