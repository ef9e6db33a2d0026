"""How the programs of Kubernetes read objects: encoding/json, and the converter of unstructured objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NoReturn

from shared.domain.go_types.engine import Dialect, MisfitError, Step, declared
from shared.domain.go_types.scalars import CONVERTER_SCALARS, JSON_SCALARS, kind_of, misfit
from shared.domain.go_types.typetables import structs

_GO: Final = {
    "": "string", "b": "bool", "i": "int32", "l": "int64", "f": "float64", "j": "v1.JSON",
    "{d}": "v1.JSONSchemaDependencies",
}  # fmt: skip
"""What Go calls types."""
_NAMED: Final = {
    place: name
    for name, *places in (
        ("v1.Capability", "Capabilities.add", "Capabilities.drop"),
        ("v1.DNSPolicy", "PodSpec.dnsPolicy"),
        ("v1.DeploymentStrategyType", "DeploymentStrategy.type"),
        ("v1.FailurePolicyType", "WebhookDescription.failurePolicy"),
        ("v1.LabelSelectorOperator", "LabelSelectorRequirement.operator"),
        ("v1.MatchPolicyType", "WebhookDescription.matchPolicy"),
        ("v1.NodeSelectorOperator", "NodeSelectorRequirement.operator"),
        ("v1.OperationType", "RuleWithOperations.operations"),
        ("v1.Protocol", "ContainerPort.protocol"),
        ("v1.PullPolicy", "Container.imagePullPolicy"),
        ("v1.ReinvocationPolicyType", "WebhookDescription.reinvocationPolicy"),
        ("v1.ResourceScope", "CustomResourceDefinitionSpec.scope"),
        ("v1.RestartPolicy", "PodSpec.restartPolicy"),
        ("v1.ScopeType", "RuleWithOperations.scope"),
        ("v1.SideEffectClass", "WebhookDescription.sideEffects"),
        ("v1.TaintEffect", "Toleration.effect"),
        ("v1.TerminationMessagePolicy", "Container.terminationMessagePolicy"),
        ("v1.TolerationOperator", "Toleration.operator"),
        ("v1.URIScheme", "HTTPGetAction.scheme"),
        ("v1alpha1.InstallModeType", "InstallMode.type"),
        ("v1alpha1.WebhookAdmissionType", "WebhookDescription.type"),
    )
    for place in places
}
"""Texts that Go knows by names of their own."""


def _misfit(value: Any, kind: str) -> NoReturn:
    raise misfit(_go_name(kind))(value)


def _go_name(kind: str) -> str:
    if kind in _GO:
        return _GO[kind]
    if kind.startswith("["):
        return f"[]{_go_name(kind[1:-1])}"
    return f"map[string]{_go_name(kind[1:-1])}" if kind.startswith("{") else f"v1.{kind}"


def _go_field(steps: Sequence[Step], name: str, path: str) -> str:
    """The innermost struct, and the fields that lead from the whole object to the value."""
    fields = [step for step in steps if isinstance(step, tuple)]
    return ".".join(
        (fields[0][0] if fields else name, *filter(None, (path,)), *(field for _, _, field in fields[::-1]))
    )


def _unrestorable(value: Any, kind: str) -> NoReturn:
    form = {"[": "slice from", "{": "map from"}.get(kind[0], "struct from:")
    raise MisfitError(f"cannot restore {form} {kind_of(value)}")


def _text_name(steps: Sequence[Step], _name: str, _path: str) -> str:
    struct, _, field = next(step for step in steps if isinstance(step, tuple))
    return _NAMED.get(f"{struct}.{field}", "string")


JSON: Final = Dialect(structs("1.36"), JSON_SCALARS, _misfit, lambda value, _: sorted(value), True, _go_field)
"""`json.Unmarshal`."""
CONVERTER: Final = Dialect(
    structs("1.36"), CONVERTER_SCALARS, _unrestorable, declared, False, _text_name, second=JSON
)  # fmt: skip
"""`DefaultUnstructuredConverter`: names of fields have one spelling; a schema beside another form is left to JSON."""
