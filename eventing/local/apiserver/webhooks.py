"""Asks webhooks about a write: mutating ones may change its object, all may refuse it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import orjson

from eventing.local.apiserver import conversion, match_conditions
from eventing.local.apiserver.admission_review import Decision, NoReview, decision_of, request_of, review_of
from eventing.local.apiserver.failures import Failure, Undecodable, forbidden, internal
from eventing.local.apiserver.outbound import Reply, ReviewRequest, address_of, asked
from eventing.local.apiserver.patches import json_patch
from eventing.local.apiserver.resources import Resource
from eventing.local.apiserver.webhook_matching import Webhook, Write, resource_for, webhooks_of
from eventing.local.apiserver.world import World
from shared.api.manifest import Manifest, ReadOnly
from shared.domain.go.text import quoted

Decode: TypeAlias = Callable[[Any], Manifest]
"""Makes an object of what the patches of a webhook left."""
Asked: TypeAlias = tuple[Webhook, str, ReviewRequest]
"""A webhook, the uid of the review, and the review."""


def configured(kind: Literal["Mutating", "Validating"], world: World) -> Sequence[Webhook]:
    """All webhooks of a kind; none where nobody is asked."""
    return [*webhooks_of(kind, world)] if world.asks_others else []


def validate(write: Write, world: World) -> None:
    """Ask the validating webhooks, all at once. Failure, when one refuses, or cannot be asked and has to be."""
    asking = [
        review
        for webhook in configured("Validating", world)
        if (desired := _desired(webhook, write, world)) and (review := _review(webhook, write, desired))
    ]
    replies = asked(write.call.replies, [request for _, _, request in asking])
    for (webhook, uid, _), reply in zip(asking, replies, strict=True):
        _decision(webhook, write, uid, reply, is_mutating=False)


def mutate(write: Write, world: World, decode: Decode) -> Write:
    """Ask the mutating webhooks one after the other; the write with the object that they leave. Failure.

    Those with the policy `IfNeeded` are asked once more when one after them changed the object.
    """
    webhooks = configured("Mutating", world)
    write, again = _in_turn(write, webhooks, world, decode)
    if again:
        write, _ = _in_turn(write, [one for one in webhooks if one in again], world, decode)
    return write


def _in_turn(write: Write, webhooks: Iterable[Webhook], world: World, decode: Decode) -> tuple[Write, list[Webhook]]:
    """The write after all webhooks, and those that were asked before a change and want to see it."""
    earlier: list[Webhook] = []
    again: list[Webhook] = []
    for webhook in webhooks:
        desired = _desired(webhook, write, world)
        if desired is None or (one := _review(webhook, write, desired)) is None:
            continue
        _, uid, request = one
        decision = _decision(webhook, write, uid, asked(write.call.replies, [request])[0], is_mutating=True)
        if decision and decision.patch:
            changed = _patched(webhook, write, desired, decision=decision, decode=decode)
            if changed != write.object:
                again, earlier = [*again, *earlier], []
            write = replace(write, object=changed)
        if webhook.settings.get("reinvocationPolicy") == "IfNeeded":
            earlier.append(webhook)
    return write, again


def _desired(webhook: Webhook, write: Write, world: World) -> Resource | None:
    """The version in which a webhook is to get the objects; None when it is not to be asked."""
    desired = resource_for(webhook, write, world)
    conditions = webhook.settings.get("matchConditions") or ()
    if desired is None or not conditions:
        return desired
    request = _request(write, desired)
    variables = {"object": request["object"], "oldObject": request["oldObject"], "request": request}
    try:
        return desired if match_conditions.hold(conditions, variables) else None
    except match_conditions.Inconclusive as error:
        if webhook.fails_open:
            return None
        raise forbidden(write.call.resource.plural, write.call.resource.group, write.name, str(error)) from error


def _request(write: Write, desired: Resource) -> Manifest:
    user = write.call.user
    user_info = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    objects = (_in_version(write.object, write, desired), _in_version(write.old, write, desired))
    return request_of(write, desired, {key: value for key, value in user_info.items() if value}, objects)


def _in_version(manifest: ReadOnly | None, write: Write, desired: Resource) -> ReadOnly | None:
    if manifest is None or write.resource is not None:
        return manifest
    return conversion.to_version(write.call, desired, manifest)


def _review(webhook: Webhook, write: Write, desired: Resource) -> Asked | None:
    """What a webhook is asked; None when it cannot be, and does not matter."""
    try:
        uid, body = review_of(webhook, _request(write, desired), write.call.identity)
    except NoReview as error:
        _fail(webhook, error)
        return None
    seconds = int(webhook.settings.get("timeoutSeconds") or 10)
    return webhook, uid, ReviewRequest(address_of(webhook.settings["clientConfig"]), body, seconds)


def _decision(webhook: Webhook, write: Write, uid: str, reply: Reply, *, is_mutating: bool) -> Decision | None:
    """The verdict of a webhook that allows the write; None when it has none, and does not matter. Failure."""
    try:
        decision = decision_of(reply, uid, is_mutating=is_mutating)
    except NoReview as error:
        _fail(webhook, error)
        return None
    write.call.warnings.extend(decision.warnings)
    if not decision.is_allowed:
        raise _refusal(webhook, decision.status)
    return decision


def _fail(webhook: Webhook, error: NoReview) -> None:
    """Raise Failure unless the webhook does not matter when it cannot be asked."""
    if not webhook.fails_open:
        raise internal(f"failed calling webhook {quoted(webhook.name)}: {error}") from error


def _refusal(webhook: Webhook, status: ReadOnly) -> Failure:
    denied = f"admission webhook {quoted(webhook.name)} denied the request"
    why = status.get("message") or status.get("reason")
    message = f"{denied}: {why}" if why else f"{denied} without explanation"
    code = status.get("code")
    least = code if isinstance(code, int) and code >= 400 else 400
    return Failure(least, str(status.get("reason") or ""), message, dict(status.get("details") or {}))


def _patched(webhook: Webhook, write: Write, desired: Resource, *, decision: Decision, decode: Decode) -> Manifest:
    """The object after a patch, in the version of the call."""
    if write.object is None:
        why = f"admission webhook {quoted(webhook.name)} attempted to modify the object, which is not supported for "
        raise internal(f"{why}this operation")
    shown = orjson.loads(orjson.dumps(_in_version(write.object, write, desired)))
    try:
        changed = json_patch(shown, list(decision.patch))
        return decode(conversion.to_version(write.call, write.call.resource, changed))
    except Undecodable as error:
        raise internal(error.why) from error
    except Failure as error:
        raise internal(error.message) from error
