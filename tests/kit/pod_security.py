"""The pod security standard `restricted`, as the API server's admission judges a pod."""

from __future__ import annotations

from collections.abc import Iterator

from shared.api.manifest import ReadOnly

_VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
_HOST = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace")
_PROFILES = ("RuntimeDefault", "Localhost")


def against_restricted(pod: ReadOnly) -> list[str]:
    """Why a namespace that enforces `restricted` refuses a pod with this spec; empty when it does not."""
    return [*_of_pod(pod), *(text for one in _containers(pod) for text in _of_container(one, pod))]


def _containers(pod: ReadOnly) -> list[ReadOnly]:
    return [*(pod.get("initContainers") or ()), *(pod.get("containers") or ())]


def _of_pod(pod: ReadOnly) -> Iterator[str]:
    yield from (field for field in _HOST if pod.get(field))
    for volume in pod.get("volumes") or ():
        yield from (f"volume {volume['name']} ({kind})" for kind in volume if kind not in {"name", *_VOLUMES})


def _of_container(container: ReadOnly, pod: ReadOnly) -> Iterator[str]:
    name, own, shared = container["name"], container.get("securityContext") or {}, pod.get("securityContext") or {}
    if own.get("allowPrivilegeEscalation") is not False:
        yield f"{name}: allowPrivilegeEscalation"
    if "ALL" not in (own.get("capabilities") or {}).get("drop", ()):
        yield f"{name}: capabilities"
    if set((own.get("capabilities") or {}).get("add", ())) - {"NET_BIND_SERVICE"} or own.get("privileged"):
        yield f"{name}: privileges"
    if own.get("runAsNonRoot", shared.get("runAsNonRoot")) is not True:
        yield f"{name}: runAsNonRoot"
    if own.get("runAsUser", shared.get("runAsUser")) == 0:
        yield f"{name}: runAsUser 0"
    if (own.get("seccompProfile") or shared.get("seccompProfile") or {}).get("type") not in _PROFILES:
        yield f"{name}: seccompProfile"
    yield from (f"{name}: host port" for port in container.get("ports") or () if port.get("hostPort"))
