"""The examples that authors ship with their operators, made as objects, so that the API server calls their webhooks."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass

from shared.api.manifest import ReadOnly, annotations_of, name_of
from shared.kinds import CUSTOM_RESOURCE_DEFINITION
from tests.conformance.http import Api
from tests.conformance.node.in_pods import InPods

REQUESTS = re.compile(r'^apiserver_(?:admission_webhook|crd_conversion_webhook)_request_total\{(.*)\} (\d+)', re.MULTILINE)
FAILING = ("failed calling webhook", "conversion webhook for")
"""What an API server says when it could not call one."""


@dataclass(frozen=True, slots=True)
class Made:
    """What came of the examples of one version."""

    paths: tuple[str, ...]
    refused: tuple[str, ...]
    """What the API server said of those that it does not take."""


def make(host: InPods, csv: ReadOnly, namespace: str) -> Made:
    """Create every example of a version, and read all there is of its kinds in each version; AssertionError."""
    kinds = {
        (found["spec"]["group"], found["spec"]["names"]["kind"]): found
        for found in host.cluster.list(CUSTOM_RESOURCE_DEFINITION)
    }
    paths, refused = list[str](), list[str]()
    for example in json.loads(annotations_of(csv).get("alm-examples") or "[]"):
        group, _, version = example["apiVersion"].rpartition("/")
        if definition := kinds.get((group, example["kind"])):
            path = _path(definition, version, namespace)
            metadata = {key: value for key, value in example["metadata"].items() if key != "namespace"}
            made = host.api.post(path, {**example, "metadata": metadata})
            _judge(made.body)
            if made.status == 201:
                paths.append(f"{path}/{name_of(made.body)}")
                _read(host.api, definition, namespace)
            else:
                refused.append(f"{example['kind']}: {made.body.get('message')}")
    return Made(tuple(paths), tuple(refused))


def _path(definition: ReadOnly, version: str, namespace: str) -> str:
    spec = definition["spec"]
    place = f"namespaces/{namespace}/" if spec["scope"] == "Namespaced" else ""
    return f"/apis/{spec['group']}/{version}/{place}{spec['names']['plural']}"


def _read(api: Api, definition: ReadOnly, namespace: str) -> None:
    """In every version that is served, which calls the webhook that converts."""
    for version in definition["spec"]["versions"]:
        if version["served"]:
            found = api.get(_path(definition, version["name"], namespace))
            _judge(found.body)
            assert found.status == 200, found.body


def _judge(body: ReadOnly) -> None:
    """AssertionError when a webhook could not be called."""
    message = str(body.get("message", ""))
    assert not any(words in message for words in FAILING), message


def remove(host: InPods, made: Made) -> None:
    """Delete them."""
    for path in made.paths:
        gone = host.api.delete(path)
        _judge(gone.body)


def called(host: InPods) -> Counter[str]:
    """How often webhooks were called so far, by what came of it, as the API server counts."""
    found = Counter[str]()
    for labels, count in REQUESTS.findall(host.kubectl("get", "--raw", "/metrics", namespace="")):
        is_good = 'rejected="false"' in labels or 'result="success"' in labels
        what = "conversions" if "admit" not in labels and "validating" not in labels else "admissions"
        found[what if is_good else f"failed {what}"] += int(count)
    return found
