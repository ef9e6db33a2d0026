"""What users configure about a bundle, checked and told as OLM v1 does it (v1.md §17)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from shared.api.manifest import Manifest, ReadOnly
from shared.domain.extension.render.configschema import (
    DEPLOYMENT_CONFIG,
    OWN_FORMAT,
    SINGLE_FORMAT,
    WATCH_NAMESPACE,
    definition,
    schema_of,
)  # fmt: skip
from shared.domain.extension.render.model import (
    DEPLOYMENT_CONFIG_GATE,
    OWN,
    SINGLE,
    SINGLE_OWN_GATE,
    Bundle,
    NotRenderedError,
    RenderOptions,
)  # fmt: skip
from shared.domain.extension.render.schema import Checker, Failure
from shared.domain.go.text import quoted
from shared.domain.go_types.dialects import JSON
from shared.domain.go_types.engine import MisfitError


@dataclass(frozen=True, slots=True)
class Settings:
    """What was configured."""

    watch_namespace: str | None = None
    """None: nothing was said about it."""
    deployment_config: ReadOnly | None = None


def configured(bundle: Bundle, options: RenderOptions) -> Settings:
    """The settings of an extension. NotRenderedError (terminal) when they do not fit the bundle."""
    if options.config is None and not options.is_on(SINGLE_OWN_GATE):
        return Settings()
    config = {} if options.config is None else options.config
    has_deployment_config = options.is_on(DEPLOYMENT_CONFIG_GATE)
    schema = schema_of(bundle.install_modes, has_deployment_config=has_deployment_config)
    checker = Checker(definition, _formats(options.install_namespace))
    messages = list(_messages(checker.failures(config, schema)))
    if messages:
        several = "".join(f"\n  - {one}" for one in messages)
        what = messages[0] if len(messages) == 1 else f"multiple errors found:{several}"
        raise _terminal(f"invalid ClusterExtension configuration: invalid configuration: {what}")
    try:
        overrides = deployment_config(config[DEPLOYMENT_CONFIG]) if DEPLOYMENT_CONFIG in config else None
    except MisfitError as error:
        raise _terminal(f"invalid deploymentConfig: failed to unmarshal deploymentConfig: {error}") from error
    return Settings(config.get(WATCH_NAMESPACE), overrides)


def deployment_config(entered: ReadOnly) -> Manifest:
    """The configuration with the fields that Go knows. MisfitError for what only Go refuses."""
    config = JSON.read(entered, "SubscriptionConfig")
    # An empty selector takes the place of the one that is there; all other empty fields stand for nothing.
    return {**config, "nodeSelector": {}} if entered.get("nodeSelector") == {} else config


def _terminal(message: str) -> NotRenderedError:
    return NotRenderedError(f"terminal error: {message}", is_terminal=True)


def _formats(install_namespace: str) -> dict[str, Callable[[str], str]]:
    def own(value: str) -> str:
        if not install_namespace or value == install_namespace:
            return ""
        return (
            f"invalid value {quoted(value)}: must be {quoted(install_namespace)} (the namespace where the operator is "
            f"installed) because this operator only supports {OWN} install mode"
        )

    def single(value: str) -> str:
        if not install_namespace or value != install_namespace:
            return ""
        return (
            f"invalid value {quoted(value)}: must be different from {quoted(install_namespace)} (the install "
            f"namespace) because this operator uses {SINGLE} install mode to watch a different namespace"
        )

    return {OWN_FORMAT: own, SINGLE_FORMAT: single}


def _messages(failures: tuple[Failure, ...]) -> Iterator[str]:
    """A sentence per failure and per failure below it.

    What has only one failure below it because it refers to another schema stands in the place of that one, and the
    failures below that one are lost: so it is in the library that OLM v1 asks.
    """
    for failure in failures:
        is_lost = failure.reason == "Reference" and len(failure.causes) == 1
        place = failure.causes[0].place if is_lost else failure.place
        yield _sentence(failure, place)
        if not is_lost:
            yield from _messages(failure.causes)


def _sentence(failure: Failure, place: tuple[str, ...]) -> str:
    path = ".".join(token.replace("~", "~0").replace("/", "~1") for token in place)
    name = quoted(path)
    match failure.reason:
        case "Required":
            return f"required field {quoted(failure.field)} is missing"
        case "Additional":
            return f"unknown field {quoted(failure.field)}"
        case "Null" | "Type" if not path:
            return f"invalid type: {failure.message}"
        case "Null":
            return f"required field {name} is missing"
        case "Type":
            return f"invalid type for field {name}: {failure.message}"
        case "Format":
            return f"invalid format for field {name}: {failure.message}"
        case "AnyOf":
            return f"invalid value for field {name}"
        case "MinLength" | "MaxLength":
            limit = "minimum" if failure.reason == "MinLength" else "maximum"
            return f"field {name} must have {limit} length of {failure.limit} (len={failure.message})"
        case "Pattern":
            return f"field {name} must match pattern {quoted(failure.limit)}"
    return failure.message
