"""The examples that authors ship with their operators, made as objects, so that the API server calls their webhooks."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

from shared.api.manifest import ReadOnly, annotations_of, name_of
from shared.kinds import CUSTOM_RESOURCE_DEFINITION
from tests.conformance.http import Answer, Api
from tests.conformance.node.in_pods import InPods

REQUESTS = re.compile(r"^apiserver_(admission|conversion)_webhook_request_total\{(.*)\} (\d+)", re.MULTILINE)
GOOD = re.compile('code="200".*rejected="false"|result="success"')
OK, CREATED = 200, 201
FAILING = ("failed calling webhook", "conversion webhook for")
"""What an API server says when it could not call one."""


def use(host: InPods, csv: ReadOnly, namespace: str) -> Iterator[str]:
    """Create every example of a version, read it in each version of its kind, and delete it; yields what came of each.

    That is nothing, or what the API server has against it. AssertionError when it could not call a webhook.
    """
    kinds = {
        (found["spec"]["group"], found["spec"]["names"]["kind"]): found
        for found in host.cluster.list(CUSTOM_RESOURCE_DEFINITION)
    }
    for example in json.loads(annotations_of(csv).get("alm-examples") or "[]"):
        group, _, version = example["apiVersion"].rpartition("/")
        if definition := kinds.get((group, example["kind"])):
            path = _path(definition, version, namespace)
            metadata = {key: value for key, value in example["metadata"].items() if key != "namespace"}
            made = _judged(host.api.post(path, {**example, "metadata": metadata}))
            if made.status == CREATED:
                _read(host.api, definition, namespace)
                _judged(host.api.delete(f"{path}/{name_of(made.body)}"))
            yield "" if made.status == CREATED else f"{example['kind']}: {made.body.get('message')}"


def _path(definition: ReadOnly, version: str, namespace: str) -> str:
    spec = definition["spec"]
    place = f"namespaces/{namespace}/" if spec["scope"] == "Namespaced" else ""
    return f"/apis/{spec['group']}/{version}/{place}{spec['names']['plural']}"


def _read(api: Api, definition: ReadOnly, namespace: str) -> None:
    """In every version that is served, which calls the webhook that converts."""
    for version in definition["spec"]["versions"]:
        if version["served"]:
            found = _judged(api.get(_path(definition, version["name"], namespace)))
            assert found.status == OK, found.body


def _judged(answer: Answer) -> Answer:
    """AssertionError when a webhook could not be called."""
    message = str(answer.body.get("message", ""))
    assert not any(words in message for words in FAILING), message
    return answer


def called(host: InPods) -> Counter[str]:
    """How often webhooks were called so far, as the API server counts, by kind, and which of it failed."""
    found = Counter[str]()
    for kind, labels, count in REQUESTS.findall(host.kubectl("get", "--raw", "/metrics", namespace="")):
        found[kind if GOOD.search(labels) else f"failed {kind}"] += int(count)
    return found
