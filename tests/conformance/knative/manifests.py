"""What a release of Knative would apply, from its sources.

`python -m tests.conformance.knative.manifests SOURCES TAG PART…`.
A PART is the name of a checkout in SOURCES, or `definitions`: all CustomResourceDefinitions. Images are those that
`knative.sh` builds; requests for processors, autoscalers and budgets of pods are left out, as the node has two cores.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from shared.api.manifest import Manifest

FOLDERS = {
    "eventing": ("config/core", "config/brokers/mt-channel-broker", "config/channels/in-memory-channel"),
    "serving": ("config/core",),
    "net-kourier": ("config",),
}
NOT_BUILT = re.compile(r"~|hpa|job-sink\.yaml|deployments/pingsource|deployments/request-reply")
TWICE = re.compile(r"mt-channel-broker/(200|201|500)-")
"""Links to files that are in folders beside them, too."""
BUILT_BY_KO = re.compile(r"ko://knative\.dev/([\w-]+)/cmd/(?:[\w-]+/)*([\w-]+)")
ENVOY = re.compile(r"docker\.io/envoyproxy/envoy:\S+")
LEFT_OUT = ("HorizontalPodAutoscaler", "PodDisruptionBudget")
DEFINITION = "CustomResourceDefinition"


def files(source: Path, folders: tuple[str, ...]) -> Iterator[Path]:
    """The YAML files below folders of a checkout, links followed."""
    for folder in folders:
        for place, _, names in sorted(os.walk(source / folder, followlinks=True)):
            for path in sorted(Path(place) / name for name in names if name.endswith(".yaml")):
                inside = str(path.relative_to(source))
                if not NOT_BUILT.search(inside) and not TWICE.search(inside):
                    yield path


def documents(source: Path, name: str, tag: str) -> Iterator[Manifest]:
    """Its objects, with our images."""
    for path in files(source / name, FOLDERS[name]):
        text = BUILT_BY_KO.sub(rf"quay.io/knative/\1-\2:{tag}", path.read_text())
        text = ENVOY.sub(f"quay.io/knative/envoy:{tag}", text)
        for each in yaml.safe_load_all(text):
            if each and each["kind"] not in LEFT_OUT:
                yield without_requests(each)


def without_requests(manifest: Manifest) -> Manifest:
    """A Deployment asks for no processor."""
    if manifest["kind"] == "Deployment":
        for container in manifest["spec"]["template"]["spec"]["containers"]:
            for bounds in container.get("resources", {}).values():
                bounds.pop("cpu", None)
    return manifest


def main(sources: str, tag: str, *parts: str) -> None:
    """Print them, namespaces first."""
    of_definitions = "definitions" in parts
    found = [
        each
        for name in (FOLDERS if of_definitions else parts)
        for each in documents(Path(sources), name, tag)
        if (each["kind"] == DEFINITION) is of_definitions
    ]
    found.sort(key=lambda each: each["kind"] != "Namespace")
    sys.stdout.write(yaml.safe_dump_all(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
