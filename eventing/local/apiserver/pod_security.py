"""Pod Security Admission: which Pods the label of a namespace refuses, in the words of a real server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from shared.api.manifest import ReadOnly, labels_of

LABEL: Final = "pod-security.kubernetes.io/enforce"
LEVELS: Final = ("baseline", "restricted")
_CAPABILITIES = frozenset({
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
    "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
})  # fmt: skip
_VOLUMES = frozenset({
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret",
})  # fmt: skip
_PROFILES = ("RuntimeDefault", "Localhost")


@dataclass(frozen=True, slots=True)
class Violation:
    """What a Pod has that its namespace does not allow, and where."""

    what: str
    where: str

    def __str__(self) -> str:
        return f"{self.what} ({self.where})"


def refusal(namespace: ReadOnly, pod: ReadOnly) -> str:
    """Why the namespace refuses the Pod; empty when it does not."""
    level = labels_of(namespace).get(LABEL, "")
    if level not in LEVELS:
        return ""
    checks = _BASELINE if level == "baseline" else _RESTRICTED
    found = [violation for check in checks if (violation := check(pod.get("spec") or {}))]
    return f'violates PodSecurity "{level}:latest": ' + ", ".join(map(str, found)) if found else ""


def _containers(spec: ReadOnly) -> Iterator[tuple[str, ReadOnly, ReadOnly]]:
    """Name, container and security context of each container; those that run first come first."""
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(group) or ():
            yield container.get("name", ""), container, container.get("securityContext") or {}


def _context(spec: ReadOnly) -> ReadOnly:
    found: ReadOnly = spec.get("securityContext") or {}
    return found


def _named(names: Sequence[str], *, prefix: str = "") -> str:
    """`container "a"`, or `containers "a", "b"`."""
    return f"{prefix}container{'s' if len(names) > 1 else ''} " + ", ".join(f'"{name}"' for name in names)


def _must(what: str, names: Sequence[str], demand: str, *, prefix: str = "") -> Violation | None:
    return Violation(what, f"{_named(names, prefix=prefix)} must {demand}") if names else None


def _escalation(spec: ReadOnly) -> Violation | None:
    bad = [name for name, _, context in _containers(spec) if context.get("allowPrivilegeEscalation") is not False]
    return _must("allowPrivilegeEscalation != false", bad, "set securityContext.allowPrivilegeEscalation=false")


def _added(context: ReadOnly) -> set[str]:
    return set((context.get("capabilities") or {}).get("add") or ())


def _baseline_capabilities(spec: ReadOnly) -> Violation | None:
    bad = {name: _added(context) - _CAPABILITIES for name, _, context in _containers(spec)}
    names = [name for name, more in bad.items() if more]
    listed = ", ".join(f'"{each}"' for each in sorted(set().union(*bad.values())))
    return _must("non-default capabilities", names, f"not include {listed} in securityContext.capabilities.add")


def _restricted_capabilities(spec: ReadOnly) -> Violation | None:
    undropped, adding, added = [], [], set()
    for name, _, context in _containers(spec):
        if "ALL" not in ((context.get("capabilities") or {}).get("drop") or ()):
            undropped.append(name)
        if more := _added(context) - {"NET_BIND_SERVICE"}:
            adding.append(name)
            added |= more
    listed = ", ".join(f'"{each}"' for each in sorted(added))
    parts = (
        _must("", undropped, 'set securityContext.capabilities.drop=["ALL"]'),
        _must("", adding, f"not include {listed} in securityContext.capabilities.add"),
    )
    where = "; ".join(part.where for part in parts if part)
    return Violation("unrestricted capabilities", where) if where else None


def _host_namespaces(spec: ReadOnly) -> Violation | None:
    used = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    return Violation("host namespaces", ", ".join(used)) if used else None


def _host_path(spec: ReadOnly) -> Violation | None:
    used = [f'"{volume.get("name", "")}"' for volume in spec.get("volumes") or () if volume.get("hostPath")]
    return Violation("hostPath volumes", f"volume{'s' if len(used) > 1 else ''} " + ", ".join(used)) if used else None


def _host_ports(spec: ReadOnly) -> Violation | None:
    ports = {
        name: [port["hostPort"] for port in container.get("ports") or () if port.get("hostPort")]
        for name, container, _ in _containers(spec)
    }
    bad = [name for name, used in ports.items() if used]
    numbers = sorted({number for used in ports.values() for number in used})
    word = "hostPorts" if len(numbers) > 1 else "hostPort"
    where = f"{_named(bad)} use{'' if len(bad) > 1 else 's'} {word} " + ", ".join(map(str, numbers))
    return Violation("hostPort", where) if bad else None


def _privileged(spec: ReadOnly) -> Violation | None:
    bad = [name for name, _, context in _containers(spec) if context.get("privileged")]
    return _must("privileged", bad, "not set securityContext.privileged=true")


def _volumes(spec: ReadOnly) -> Violation | None:
    bad = {
        str(volume.get("name", "")): kind
        for volume in spec.get("volumes") or ()
        for kind in sorted(set(volume) - {"name"} - _VOLUMES)
    }
    if not bad:
        return None
    types = ", ".join(f'"{kind}"' for kind in sorted(set(bad.values())))
    names = ", ".join(f'"{name}"' for name in bad)
    use = (
        f"volumes {names} use restricted volume types"
        if len(bad) > 1
        else f"volume {names} uses restricted volume type"
    )
    return Violation("restricted volume types", f"{use} {types}")


def _non_root(spec: ReadOnly) -> Violation | None:
    allowed = _context(spec).get("runAsNonRoot")
    explicit = [name for name, _, context in _containers(spec) if context.get("runAsNonRoot") is False]
    unset = [name for name, _, context in _containers(spec) if context.get("runAsNonRoot") is None]
    if allowed is False:
        explicit_too = ["pod", *([_named(explicit)] if explicit else [])]
        return Violation(
            "runAsNonRoot != true", f"{' and '.join(explicit_too)} must not set securityContext.runAsNonRoot=false"
        )
    if explicit:
        return _must("runAsNonRoot != true", explicit, "not set securityContext.runAsNonRoot=false")
    if allowed or not unset:
        return None
    return _must("runAsNonRoot != true", unset, "set securityContext.runAsNonRoot=true", prefix="pod or ")


def _user(spec: ReadOnly) -> Violation | None:
    who = ["pod"] if _context(spec).get("runAsUser") == 0 else []
    bad = [name for name, _, context in _containers(spec) if context.get("runAsUser") == 0]
    who += [_named(bad)] if bad else []
    return Violation("runAsUser=0", f"{' and '.join(who)} must not set runAsUser=0") if who else None


def _profile(context: ReadOnly) -> str | None:
    kind = (context.get("seccompProfile") or {}).get("type")
    return None if kind is None else str(kind)


def _baseline_seccomp(spec: ReadOnly) -> Violation | None:
    who = ["pod"] if _profile(_context(spec)) == "Unconfined" else []
    bad = [name for name, _, context in _containers(spec) if _profile(context) == "Unconfined"]
    who += [_named(bad)] if bad else []
    return (
        Violation(
            "seccompProfile", f'{" and ".join(who)} must not set securityContext.seccompProfile.type to "Unconfined"'
        )
        if who
        else None
    )


def _restricted_seccomp(spec: ReadOnly) -> Violation | None:
    of_pod = _profile(_context(spec))
    if (worse := _baseline_seccomp(spec)) is not None:
        return worse
    unset = [name for name, _, context in _containers(spec) if _profile(context) is None]
    if of_pod in _PROFILES or not unset:
        return None
    demand = 'set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return _must("seccompProfile", unset, demand, prefix="pod or ")


Check = Callable[[ReadOnly], Violation | None]
_BASELINE: tuple[Check, ...] = (
    _host_namespaces, _privileged, _baseline_capabilities, _host_path, _host_ports, _baseline_seccomp,
)  # fmt: skip
_RESTRICTED: tuple[Check, ...] = (
    _host_namespaces, _privileged, _escalation, _restricted_capabilities, _host_ports, _volumes,
    _non_root, _user, _restricted_seccomp,
)  # fmt: skip
