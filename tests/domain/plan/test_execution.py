"""What a step writes onto an object that is there already."""

from __future__ import annotations

import pytest

from shared import kinds
from shared.api.manifest import Manifest
from shared.api.views import CustomResourceDefinition
from shared.domain.merge_patch import merged as patched
from shared.domain.plan import crds
from shared.domain.plan.bundle_kinds import is_allowed
from shared.domain.plan.execution import RULES, StepOwner, merged, prepared
from shared.kinds import Ref

OWNER = StepOwner("ns", "install-1", "a.v2")


def an_object(kind: str, meta: Manifest | None = None, **fields: object) -> Manifest:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x", **(meta or {})}, **fields}


def an_owner(name: str, uid: str, **more: object) -> Manifest:
    return {"kind": "ClusterServiceVersion", "name": name, "uid": uid, **more}


def test_a_service_keeps_its_addresses() -> None:
    """catalog.md 8.10.115: a Service with the ClusterIP it already has."""
    live = an_object("Service", {"resourceVersion": "7"}, spec={"clusterIP": "10.0.0.1", "ports": [1]})
    assert merged(an_object("Service", spec={"ports": [2]}), live)["spec"] == {"clusterIP": "10.0.0.1", "ports": [2]}


def test_a_service_account_keeps_its_secrets_and_both_owners() -> None:
    """catalog.md 8.10.110, 116 and 117: secrets kept; old and new CSV own it; new annotations win."""
    live = an_object(
        "ServiceAccount",
        {"annotations": {"a": "old", "b": "kept"}, "ownerReferences": [an_owner("a.v1", "1")], "resourceVersion": "7"},
        secrets=[{"name": "s"}],
    )
    desired = an_object("ServiceAccount", {"annotations": {"a": "new"}, "ownerReferences": [an_owner("a.v2", "2")]})
    whole = merged(desired, live)
    assert whole["secrets"] == [{"name": "s"}]
    assert whole["metadata"]["annotations"] == {"a": "new", "b": "kept"}
    assert [owner["uid"] for owner in whole["metadata"]["ownerReferences"]] == ["1", "2"]
    assert whole["metadata"]["resourceVersion"] == "7"


def test_the_same_owner_is_not_doubled() -> None:
    """catalog.md 8.10.118: OLM compares pointers, so that real duplicates pile up."""
    live = an_object("ServiceAccount", {"ownerReferences": [an_owner("a.v2", "2", controller=False)]})
    desired = an_object("ServiceAccount", {"ownerReferences": [an_owner("a.v2", "2", controller=False)]})
    assert [one["uid"] for one in merged(desired, live)["metadata"]["ownerReferences"]] == ["2"]


def test_an_owner_that_is_about_to_be_made_takes_the_place_of_the_one_that_had_its_name() -> None:
    """The older one is gone; what still names it would be collected with it."""
    live = an_object("ServiceAccount", {"ownerReferences": [an_owner("a.v1", "1"), an_owner("a.v2", "2")]})
    desired = an_object("ServiceAccount", {"ownerReferences": [an_owner("a.v2", "")]})
    assert [one["uid"] for one in merged(desired, live)["metadata"]["ownerReferences"]] == ["1", ""]


def test_an_owner_of_the_same_name_but_another_uid_is_added() -> None:
    """catalog.md 8.10.118: a different uid is a different owner."""
    live = an_object("ServiceAccount", {"ownerReferences": [an_owner("a.v2", "old")]})
    desired = an_object("ServiceAccount", {"ownerReferences": [an_owner("a.v2", "new")]})
    assert [one["uid"] for one in merged(desired, live)["metadata"]["ownerReferences"]] == ["old", "new"]


def test_a_dependency_names_the_plan_that_made_it() -> None:
    """catalog.md 3.3: annotation olm.generated-by."""
    made = prepared(an_object("Subscription"), RULES["Subscription"], OWNER)
    assert made["metadata"]["annotations"] == {"olm.generated-by": "install-1"}


def test_status_and_namespace_of_the_manifest_do_not_count() -> None:
    made = prepared(an_object("Role", {"namespace": "elsewhere"}, status={"a": 1}), RULES["Role"], OWNER)
    assert (made["metadata"]["namespace"], "status" in made) == ("ns", False)


def test_which_kinds_may_be_shipped() -> None:
    """catalog.md 8.10.113: the supported list, by Kind only."""
    assert all(is_allowed(kind, "any", ()) for kind in ("PrometheusRule", "ServiceMonitor"))
    assert not is_allowed("UnsupportedKind", "any", ("Other", "UnsupportedKind.elsewhere"))


@pytest.mark.parametrize("setting", ["Certificate", "Certificate.cert-manager.io"])
def test_an_administrator_may_allow_more_kinds(setting: str) -> None:
    assert is_allowed("Certificate", "cert-manager.io", ("Other", setting))


def a_crd(ca_bundle: str = "", annotations: Manifest | None = None) -> Manifest:
    config = {"caBundle": ca_bundle} if ca_bundle else {"path": "/convert"}
    spec = {"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": config}}, "versions": []}
    meta = {"name": "as.example.com", "annotations": annotations or {}}
    return {"apiVersion": kinds.CUSTOM_RESOURCE_DEFINITION.api_version, "kind": "CustomResourceDefinition",
            "metadata": meta, "spec": spec}  # fmt: skip


def test_an_injected_ca_bundle_survives_an_update() -> None:
    """catalog.md 9.11: OLM drops it."""
    action = crds.act(a_crd(), CustomResourceDefinition(a_crd("CA")), OWNER, ())
    assert action.replace is not None
    assert action.replace["spec"]["conversion"]["webhook"]["clientConfig"] == {"path": "/convert", "caBundle": "CA"}
    own = crds.act(a_crd("OWN"), CustomResourceDefinition(a_crd("CA")), OWNER, ())
    assert own.replace is not None
    assert own.replace["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] == "OWN"


def test_the_conversion_that_a_version_brought_survives_an_update_csv_md_7_6() -> None:
    """Bundles state none: without it, stored objects could not be read until the next installation."""
    plain = {**a_crd(), "spec": {"conversion": {"strategy": "None"}, "versions": []}}
    grown = {**plain, "spec": {**plain["spec"], "versions": [{"name": "v2"}]}}
    action = crds.act(grown, CustomResourceDefinition(a_crd("CA")), OWNER, ())
    assert action.replace is not None
    assert action.replace["spec"]["conversion"] == a_crd("CA")["spec"]["conversion"]
    first = crds.act(grown, CustomResourceDefinition(plain), OWNER, ())
    assert first.replace is not None
    assert first.replace["spec"]["conversion"] == {"strategy": "None"}


def test_a_definition_that_says_the_same_gets_a_patch_of_what_its_metadata_lacks() -> None:
    """catalog.md 8.11.138: one annotation for each version; plans of several namespaces at once never conflict."""
    other = {"kept": "yes", "operatorframework.io/installed-alongside-1": "other/a.v1"}
    gone = {"operatorframework.io/installed-alongside-2": "ns/a.v1"}
    live = a_crd(annotations={**other, **gone})
    added = crds.act(a_crd(), CustomResourceDefinition(live), OWNER, ())
    assert (added.create, added.replace, added.is_ours) == (None, None, True)
    assert added.ref == Ref.of(live)
    assert added.patch is not None
    whole = patched(live, added.patch[1])
    assert whole["metadata"]["labels"] == {"olm.managed": "true"}
    of_this = {"operatorframework.io/installed-alongside-a7d911cfd55e00a0": "ns/a.v2"}
    assert whole["metadata"]["annotations"] == other | of_this
    again = crds.act(a_crd(), CustomResourceDefinition(whole), OWNER, ())
    assert (again.status, again.ref) == ("Present", None)


def test_a_definition_of_another_owner_is_replaced() -> None:
    owned = a_crd()
    owned["metadata"]["ownerReferences"] = [an_owner("a.v2", "uid")]
    action = crds.act(owned, CustomResourceDefinition(a_crd("CA")), OWNER, ())
    assert action.replace is not None
    assert len(action.replace["metadata"]["ownerReferences"]) == 1


def test_without_csv_nothing_is_remembered() -> None:
    """catalog.md 8.11.137: empty namespace or name, nothing added."""
    action = crds.act(a_crd(annotations={"kept": "yes"}), None, StepOwner("ns", "install-1", ""), ())
    assert action.create is not None
    assert action.create["metadata"]["annotations"] == {"kept": "yes"}
