"""Admission policies of ours that make true what somebody says of himself, and whether one of them is in force."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import Object
from shared.kinds import Kind, Ref

API: Final = "admissionregistration.k8s.io/v1"
POLICY: Final = "ValidatingAdmissionPolicy"
BINDING: Final = "ValidatingAdmissionPolicyBinding"
SPREAD: Final = timedelta(minutes=1)
"""How long after it was made a policy may be unknown to one of several API servers, whose clocks may differ."""


@dataclass(frozen=True, slots=True)
class AdmissionPolicy:
    """A policy that refuses what is said falsely, and its binding, which an administrator applies."""

    name: str
    file: str
    kinds: tuple[Kind, ...]
    """Whose objects it checks when they are created and updated; all of one API group and version."""
    variables: Mapping[str, str]
    rules: Mapping[str, str]
    """Expression to the sentence for what does not fulfil it; the first one refuses the probe."""
    probe: str
    """What somebody tries to write who wants to know whether it is in force."""
    counted: str
    """Which objects are believed after it has been applied."""

    @property
    def policy(self) -> Ref:
        """The policy."""
        return Ref(API, POLICY, self.name)

    @property
    def binding(self) -> Ref:
        """Its binding."""
        return Ref(API, BINDING, self.name)

    @property
    def answer(self) -> str:
        """The sentence for what is said falsely."""
        return next(iter(self.rules.values()))

    def manifests(self) -> list[Manifest]:
        """The policy and its binding, with all that an API server would fill in."""
        return [
            {"apiVersion": API, "kind": kind, "metadata": {"name": self.name}, "spec": spec}
            for kind, spec in self._specs()
        ]

    def since(self, policy: ReadOnly | None, binding: ReadOnly | None, refusal: str) -> datetime | str:
        """Since when each write is checked, or why what is said cannot be believed.

        `refusal` is what the API server says to the probe: a stored policy may rest, as where its plugin is off.
        """
        stored = (policy, binding)
        for found, (kind, spec) in zip(stored, self._specs(), strict=True):
            if found is None:
                return f"{kind} {self.name} does not exist: {self._apply()}"
            if found.get("spec") != spec or Object(found).generation > 1:
                return f"{kind} {self.name} was changed since it was made, or is of another release: {self._again()}"
        if f"{POLICY} '{self.name}' with binding '{self.name}' denied request: {self.answer}" not in refusal:
            return (
                f"{POLICY} {self.name} is not in force: a dry run of {self.probe} was not refused by it "
                f"({refusal or 'it was taken'})"
            )
        return self._begun([found for found in stored if found is not None])

    def _begun(self, stored: Sequence[ReadOnly]) -> datetime | str:
        made = [one for found in stored if (one := Object(found).created) is not None]
        return max(made) + SPREAD if len(made) == len(stored) else f"nothing tells when the policy {self.name} was made"

    def _apply(self) -> str:
        return f"apply {self.file}; {self.counted} a minute later, or again"

    def _again(self) -> str:
        return f"delete both objects of {self.file}, and {self._apply()}"

    def _specs(self) -> Iterable[tuple[str, Manifest]]:
        rule = {
            "apiGroups": [self.kinds[0].group], "apiVersions": [self.kinds[0].version],
            "operations": ["CREATE", "UPDATE"], "resources": [one.plural for one in self.kinds], "scope": "*",
        }  # fmt: skip
        yield POLICY, {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}, "resourceRules": [rule],
            },
            "variables": [{"name": name, "expression": expression} for name, expression in self.variables.items()],
            "validations": [
                {"expression": expression, "message": message, "reason": "Forbidden"}
                for expression, message in self.rules.items()
            ],
        }  # fmt: skip
        yield BINDING, {"policyName": self.name, "validationActions": ["Deny"]}
