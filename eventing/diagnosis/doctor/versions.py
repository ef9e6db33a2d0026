"""Whether versions go together: of the API server and of our own programs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final

from eventing.diagnosis.doctor.finding import Check, Finding
from shared.api import fields
from shared.api.views import Deployment
from shared.domain.command import Fix, kubectl
from shared.kinds import API_SERVICE, DEPLOYMENT, Ref
from shared.ports import Cluster

LEAST: Final = (1, 25)
"""Older API servers drop the rules in CEL that our definitions have, without a word."""
_RELEASE: Final = re.compile(r"v?(\d+)\.(\d+)")
_OURS: Final = "olmf-"
_PROGRAM: Final = "run"
"""The first argument of our programs; what has none of it is another's image, as that of Redis."""


def check_server(version: Callable[[], str]) -> Check:
    """The check of the API server's version."""

    def check(_: Cluster, __: datetime) -> Iterator[Finding]:
        release = version()
        found = _RELEASE.match(release)
        if found and (int(found[1]), int(found[2])) < LEAST:
            least = ".".join(map(str, LEAST))
            effect = "rules of our definitions do not hold, and statuses that they would refuse are stored"
            fix = Fix(f"update the cluster to Kubernetes {least} or newer")
            yield Finding(API_SERVICE.ref("v1."), f"is served by {release}, older than {least}", effect, fix)

    return check


def check_builds(cluster: Cluster, _: datetime) -> Iterator[Finding]:
    """Deployments of ours in one namespace with another image than most of them have."""
    images: dict[str, dict[str, list[Deployment]]] = defaultdict(lambda: defaultdict(list))
    for one in Deployment.each(cluster.list(DEPLOYMENT)):
        for image in dict.fromkeys(_images(one)) if one.name.startswith(_OURS) else ():
            images[one.namespace][image].append(one)
    for by_image in images.values():
        usual, *others = sorted(by_image, key=lambda image: (-len(by_image[image]), image))
        for image in others:
            for one in by_image[image]:
                effect = "programs of two builds do the same work differently while both run"
                look = kubectl("rollout", "status", f"deployment/{one.name}", namespace=one.namespace)
                fix = Fix("finish the update, and apply the manifests of one build", look)
                yield Finding(Ref.of(one.raw), f"runs {image}, where other programs of ours run {usual}", effect, fix)


def _images(one: Deployment) -> Iterator[str]:
    """The images of our programs in its Pods."""
    for container in fields.parts(one.raw, "spec", "template", "spec", "containers"):
        if _PROGRAM in fields.texts(container, "args")[:1]:
            yield fields.text(container, "image")
