"""Where a ClusterServiceVersion says that its images may run: in its labels, and in its node affinities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from operator import attrgetter
from typing import Final

from shared.api.manifest import ReadOnly
from shared.domain.authoring.validation.subject import Subject
from shared.domain.bundle.platform import Platform, Platforms
from shared.domain.bundle.shape import as_list, as_object

_MANAGER: Final = "manager"
_PROXY: Final = "kube-rbac-proxy"
"""The container that operator-sdk puts beside the manager."""


@dataclass(frozen=True, slots=True)
class Half:
    """One half of a platform: its operating system, or its architecture."""

    of: Callable[[Platform], str]
    label: str
    default: str
    """What is assumed where no label says anything."""


ARCHITECTURE: Final = Half(attrgetter("architecture"), "operatorframework.io/arch.", "amd64")
SYSTEM: Final = Half(attrgetter("os"), "operatorframework.io/os.", "linux")


@dataclass(frozen=True)
class Placement:
    """The images of an operator, and the platforms that are stated and known for them."""

    subject: Subject

    @cached_property
    def _pods(self) -> list[tuple[ReadOnly, list[ReadOnly]]]:
        """The pods of the Deployments, each with its containers."""
        return [(pod, as_list(pod.get("containers"))) for pod in self.subject.pods()]

    @cached_property
    def managers(self) -> tuple[str, ...]:
        """The images of the operator itself: of each pod its container `manager`, else all but the usual proxy."""
        return _images(one for _, containers in self._pods for one in _managers(containers))

    @cached_property
    def run(self) -> tuple[str, ...]:
        """The images of all containers, those of the operator first."""
        return _each_once((*self.managers, *_images(one for _, containers in self._pods for one in containers)))

    @cached_property
    def others(self) -> tuple[str, ...]:
        """The images of other containers, then the related images."""
        related = _images(as_list(self.subject.spec.get("relatedImages")))
        return _each_once((*self.run[len(self.managers) :], *related))

    @property
    def images(self) -> tuple[str, ...]:
        """The images of the operator and the others, each once."""
        return _each_once((*self.managers, *self.others))

    @cached_property
    def platforms(self) -> Mapping[str, Platforms]:
        """The platforms of each image for which they are known."""
        asked = ((image, self.subject.options.platforms.get(image)) for image in self.images)
        return {image: found for image, found in asked if isinstance(found, tuple)}

    @cached_property
    def affinities(self) -> Mapping[str, Platforms]:
        """Where the pod that runs an image may be scheduled; of several pods the first counts."""
        desired = [(image, _affinity(pod)) for pod, containers in self._pods for image in _images(containers)]
        return dict(reversed(desired))

    def labelled(self, half: Half) -> list[str]:
        """The supported values in the labels."""
        labels = as_object(as_object(self.subject.csv.get("metadata")).get("labels"))
        supported = (key for key, value in labels.items() if key.startswith(half.label) and value == "supported")
        return sorted(key.removeprefix(half.label) for key in supported)

    def supported(self, half: Half) -> list[str]:
        """The supported values in the labels, or the default without any."""
        return self.labelled(half) or [half.default]

    def possible(self, half: Half) -> frozenset[str]:
        """The promised values, and those of the images of the operator."""
        shown = (self.platforms.get(image, ()) for image in self.managers)
        return frozenset((*self.supported(half), *(half.of(one) for platforms in shown for one in platforms)))


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _images(named: Iterable[ReadOnly]) -> tuple[str, ...]:
    """The images of containers, or of related images."""
    return _each_once(filter(None, (one.get("image") for one in named)))


def _managers(containers: list[ReadOnly]) -> list[ReadOnly]:
    named = [one for one in containers if one["name"] == _MANAGER]
    return named or [one for one in containers if one["name"] != _PROXY]


def _affinity(pod: ReadOnly) -> Platforms:
    """The platforms that the terms of a required node affinity name in full."""
    affinity = as_object(as_object(pod.get("affinity")).get("nodeAffinity"))
    required = as_object(affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))
    return tuple(one for term in as_list(required.get("nodeSelectorTerms")) for one in _named_by(term))


def _named_by(term: ReadOnly) -> Iterator[Platform]:
    expressions = (one for one in as_list(term.get("matchExpressions")) if one["operator"] == "In")
    values = {one["key"]: as_list(one.get("values")) for one in expressions}
    return map(Platform._make, product(values.get("kubernetes.io/os", ()), values.get("kubernetes.io/arch", ())))
