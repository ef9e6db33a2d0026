"""What is taken back of a version that goes, and what stays because somebody else has it, too."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from shared import kinds
from shared.api.manifest import Manifest
from shared.api.views import Csv, Object, RoleBinding
from shared.domain.endpoints import conversion, sharing, work
from shared.domain.endpoints.changes import Change
from shared.domain.endpoints.endpoint import endpoints_of
from shared.domain.endpoints.facts import Facts
from shared.domain.endpoints.retreat import taken_back
from shared.kinds import Ref
from tests.domain.csv.builders import a_crd
from tests.domain.endpoints.builders import THINGS, a_conversion, a_server, a_webhook, an_api

STRANGER = {"kind": "ServiceAccount", "name": "stranger", "namespace": "elsewhere"}
DEFINITION = kinds.CUSTOM_RESOURCE_DEFINITION.ref(THINGS)


def a_version(*hooks: Manifest) -> Csv:
    csv = a_server(*(hooks or (a_webhook(),)))
    return Csv({**csv, "metadata": {**csv["metadata"], "namespace": "ns"}})


def binding(csv: Csv, **more: Any) -> Manifest:
    [endpoint] = endpoints_of(csv)
    return {**sharing.delegator(csv, endpoint, None), **more}


def facts(*found: Manifest, **more: Any) -> Facts:
    return Facts(objects={Ref.of(one): one for one in found}, **more)


def test_a_permission_that_nobody_else_has_goes() -> None:
    csv = a_version()
    [found] = taken_back(csv, facts(binding(csv)))
    assert isinstance(found, RoleBinding)


def test_a_permission_that_others_have_loses_one_subject() -> None:
    csv = a_version()
    whole = binding(csv)
    [found] = taken_back(csv, facts({**whole, "subjects": [*whole["subjects"], STRANGER]}))
    assert isinstance(found, Change)
    assert found.patch is not None
    assert found.patch["subjects"] == [STRANGER]


def test_a_permission_of_others_alone_is_left_alone() -> None:
    csv = a_version()
    assert [*taken_back(csv, facts(binding(csv, subjects=[STRANGER])))] == []


def test_a_permission_that_is_going_already_is_not_taken_twice() -> None:
    csv = a_version()
    whole = binding(csv)
    going = {**whole, "metadata": {**whole["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert [*taken_back(csv, facts(going))] == []


def test_a_binding_that_nobody_of_us_made_is_never_touched() -> None:
    """A tenant may call a Deployment as he likes, and write into his status that it has served."""
    csv = a_version()
    theirs = {**binding(csv), "subjects": []}
    assert [*taken_back(csv, facts({**theirs, "metadata": {"name": theirs["metadata"]["name"]}}))] == []
    assert [one.name for one in taken_back(csv, facts(theirs)) if isinstance(one, Object)] == [
        theirs["metadata"]["name"]
    ]


def converted(csv: Csv, namespace: str = "ns") -> Manifest:
    """The definition, whose objects are converted by the server of the version in a namespace."""
    hook = csv.webhooks[0]
    place = Csv({**csv.raw, "metadata": {**csv.metadata, "namespace": namespace}})
    crd = a_crd(THINGS)
    return {**crd, "spec": {**crd["spec"], "conversion": conversion.desired(place, hook, bundle="PEM")}}


def test_csv_md_7_6_a_conversion_ends_with_its_version() -> None:
    csv = a_version(a_conversion())
    [found] = taken_back(csv, facts(converted(csv)))
    assert isinstance(found, Change)
    assert (found.ref, found.patch) == (DEFINITION, {"spec": {"conversion": {"strategy": "None", "webhook": None}}})


def test_a_conversion_of_others_stays() -> None:
    csv = a_version(a_conversion())
    assert [*taken_back(csv, facts(converted(csv, "elsewhere")))] == []
    successor = Csv({**csv.raw, "metadata": {**csv.metadata, "name": "heir.v2"}})
    assert [*taken_back(csv, facts(converted(csv), namespace_csvs=(successor,)))] == []


def test_nothing_is_said_of_a_server_without_certificate() -> None:
    csv = a_version(a_webhook(), a_conversion())
    api = Csv(a_server(apis=(an_api(),)))
    found = facts(a_crd(THINGS))
    assert [*work.served(csv, found, {}), *work.aggregated(api, found, {})] == []
    assert Object(a_crd(THINGS)).name == THINGS


def test_a_successor_with_another_account_does_not_keep_the_old_one() -> None:
    csv = a_version()
    strategy = deepcopy(csv.raw["spec"])
    strategy["install"]["spec"]["deployments"][0]["spec"]["template"]["spec"]["serviceAccountName"] = "b"
    successor = Csv({**csv.raw, "metadata": {**csv.metadata, "name": "heir.v2"}, "spec": strategy})
    [theirs] = binding(successor)["subjects"]
    whole = binding(csv)
    [found] = taken_back(csv, facts({**whole, "subjects": [*whole["subjects"], theirs]}, namespace_csvs=(successor,)))
    assert isinstance(found, Change)
    assert found.patch
    assert found.patch["subjects"] == [theirs]
