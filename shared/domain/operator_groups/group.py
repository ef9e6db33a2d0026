"""The facts about one OperatorGroup, and sets of namespaces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shared import names
from shared.api.views import OperatorGroup
from shared.domain.operator_groups.install_modes import ALL_NAMESPACES
from shared.refs import encoded

NamespaceSet = frozenset[str]
"""A set of namespaces; a set with the empty name means all namespaces."""

ALL: NamespaceSet = frozenset((ALL_NAMESPACES,))


def meet(left: NamespaceSet, right: NamespaceSet) -> NamespaceSet:
    """The namespaces in both sets."""
    if ALL_NAMESPACES in left:
        return right
    return left if ALL_NAMESPACES in right else left & right


@dataclass(frozen=True, slots=True, order=True)
class Api:
    """One provided API."""

    group: str
    version: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.version}.{self.group}"

    @classmethod
    def parse(cls, text: str) -> Api | None:
        """The inverse of `str`; None when a part is missing."""
        match text.split(".", 2):
            case [kind, version, group]:
                return cls(group, version, kind)
        return None


def operator_namespaces_of(groups: Iterable[Group], namespace: str) -> frozenset[str]:
    """The other namespaces whose group selects this one: the homes of the operators that have copies here."""
    return frozenset(group.namespace for group in groups if group.watches(namespace)) - {namespace}


def parse_apis(annotation: str) -> frozenset[Api]:
    """The APIs in the annotation `olm.providedAPIs`; invalid items are ignored."""
    parts = annotation.replace(" ", "").split(",")
    return frozenset(api for api in map(Api.parse, parts) if api)


def render_apis(apis: Iterable[Api]) -> str:
    """The annotation `olm.providedAPIs` for a set of APIs."""
    return ",".join(sorted(map(str, apis)))


@dataclass(frozen=True, slots=True)
class Group:
    """The facts about an OperatorGroup that the rules use."""

    namespace: str
    name: str
    targets: tuple[str, ...] | None = None
    """`status.namespaces`, sorted; None when none were selected yet, or the group is refused."""
    provided: str = ""
    """The text of the annotation `olm.providedAPIs`."""
    is_static: bool = False
    created: str = ""
    """The creation time stamp."""
    uid: str = ""

    @classmethod
    def of(cls, group: OperatorGroup) -> Group:
        """The group that an OperatorGroup object describes."""
        return cls(
            namespace=group.namespace,
            name=group.name,
            targets=group.selected,
            provided=group.provided_apis,
            is_static=group.is_static,
            created=group.age_key,
            uid=group.uid,
        )

    @property
    def apis(self) -> frozenset[Api]:
        """The APIs that the group announces."""
        return parse_apis(self.provided)

    @property
    def is_global(self) -> bool:
        """Whether the group selects all namespaces."""
        return bool(self.targets) and ALL_NAMESPACES in (self.targets or ())

    @property
    def namespaces(self) -> NamespaceSet:
        """The target namespaces and the group's own; empty when none are selected."""
        if not self.targets:
            return frozenset()
        return ALL if self.is_global else frozenset((*self.targets, self.namespace))

    @property
    def annotation(self) -> str:
        """The text of `olm.targetNamespaces` on members; what no namespace can be called stays one item of it."""
        return ",".join(map(encoded, self.targets or ()))

    def membership(self) -> dict[str, str]:
        """The annotations of members; without targets while none are selected: an empty text means all namespaces."""
        named = {names.OPERATOR_NAMESPACE: self.namespace, names.OPERATOR_GROUP: self.name}
        return {**named, names.TARGET_NAMESPACES: self.annotation} if self.targets else named

    def watches(self, namespace: str) -> bool:
        """Whether the namespace is a target."""
        return self.is_global or namespace in (self.targets or ())

    def meets(self, other: Group) -> bool:
        """Whether some namespace belongs to both groups; a group never meets itself."""
        if (self.namespace, self.name) == (other.namespace, other.name):
            return False
        return bool(meet(self.namespaces, other.namespaces))

    def outranks(self, other: Group) -> bool:
        """Whether this group keeps an API that both provide: the static group, else the older one, else by name."""
        return self._rank() < other._rank()

    def _rank(self) -> tuple[bool, str, str, str]:
        return (not self.is_static, self.created, self.namespace, self.name)
