"""Identities are valid or do not exist, and survive their text form."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.kinds import (
    API_SERVICE,
    BY_IDENTITY,
    CLUSTER_ROLE,
    EVENT,
    KINDS,
    NAMESPACE,
    ROLE,
    SUBSCRIPTION,
    InvalidName,
    Kind,
    Ref,
)
from shared.refs import misnamed

TEXT = st.one_of(st.text(max_size=12), st.sampled_from(["a", "v1.", "system:node", "a.b", "..", "x,y", "%2F", "ü\n|"]))
KIND_OF_ANY = st.sampled_from([*KINDS, Kind("example.com/v1", "Widget", "widgets")])


@given(kind=KIND_OF_ANY, name=TEXT, namespace=TEXT)
@example(kind=ROLE, name="%41", namespace="a")
@example(kind=ROLE, name="\ud800", namespace="a")
def test_a_text_of_others_is_a_ref_that_survives_its_text_form_or_none(kind: Kind, name: str, namespace: str) -> None:
    ref = kind.ref_or_none(name, namespace)
    if ref is not None:
        assert Ref.parse(str(ref)) == ref
        assert re.fullmatch(r"[-A-Za-z0-9._:*%/]+", str(ref))
        assert str(ref).count("/") == 4 - ("/" not in kind.api_version)


@given(text=st.text())
def test_what_parses_is_a_ref(text: str) -> None:
    try:
        ref = Ref.parse(text)
    except InvalidName:
        return
    assert Ref.parse(str(ref)) == ref


@pytest.mark.parametrize(
    "text", ["", "a", "v1/Namespace/olm", "v1//ns/name", "v1/Kind/ns/", "a/b/c/d/e/f", "v1/K//%FF"]
)
def test_a_text_that_is_no_ref_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidName, match="is not a ref"):
        Ref.parse(text)


@pytest.mark.parametrize(
    ("kind", "name", "namespace"),
    [
        pytest.param(SUBSCRIPTION, "", "ns", id="no name"),
        pytest.param(SUBSCRIPTION, None, "ns", id="a name that is null"),
        pytest.param(SUBSCRIPTION, "a", "", id="a namespaced kind without a namespace"),
        pytest.param(SUBSCRIPTION, "A", "ns", id="capitals"),
        pytest.param(SUBSCRIPTION, "a,b", "ns", id="a comma"),
        pytest.param(SUBSCRIPTION, "a\nb", "ns", id="a line feed"),
        pytest.param(SUBSCRIPTION, "a\n", "ns", id="a line feed at the end"),
        pytest.param(SUBSCRIPTION, "a" * 254, "ns", id="a name that is too long"),
        pytest.param(SUBSCRIPTION, "a", "n.s", id="a dot in a namespace"),
        pytest.param(SUBSCRIPTION, "a", "n" * 64, id="a namespace that is too long"),
        pytest.param(NAMESPACE, "a.b", "", id="a Namespace with a dot"),
        pytest.param(ROLE, ".", "ns", id="the folder itself"),
        pytest.param(ROLE, "..", "ns", id="the folder above"),
        pytest.param(ROLE, "a/b", "ns", id="a slash"),
        pytest.param(ROLE, "a%2Fb", "ns", id="an encoded slash"),
    ],
)
def test_no_object_is_called_so(kind: Kind, name: object, namespace: object) -> None:
    assert kind.ref_or_none(name, namespace) is None
    assert kind.look_up(lambda ref: ref, name, namespace) is None


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        pytest.param(CLUSTER_ROLE, "system:node", "system:node", id="a ClusterRole of Kubernetes"),
        pytest.param(CLUSTER_ROLE, "a b|c", "a%20b%7Cc", id="a ClusterRole with any text"),
        pytest.param(API_SERVICE, "v1.", "v1.", id="the APIService of the core group"),
        pytest.param(EVENT, "node_a.17", "node_a.17", id="an Event about a node"),
        pytest.param(Kind("user.openshift.io/v1", "User", "users"), "kube:admin", "kube:admin", id="an aggregated API"),
    ],
)
def test_names_beyond_dns_are_encoded_once(kind: Kind, name: str, text: str) -> None:
    assert str(kind.ref(name, "ns")).rpartition("/")[2] == text


@pytest.mark.parametrize(
    ("api_version", "kind", "plural"),
    [
        pytest.param("", "Widget", "widgets", id="no version"),
        pytest.param("../v1", "Widget", "widgets", id="a group that leaves the path"),
        pytest.param("a/b/v1", "Widget", "widgets", id="two groups"),
        pytest.param("outside:v1", "Widget", "widgets", id="a version with a colon"),
        pytest.param("v1", "Wid get", "widgets", id="a kind with a blank"),
        pytest.param("v1", "Widget", "widgets/status", id="a subresource"),
        pytest.param("v1", "Widget", "", id="no plural"),
    ],
)
def test_no_kind_is_called_so(api_version: str, kind: str, plural: str) -> None:
    assert Kind.or_none(api_version, kind, plural) is None


def test_why_an_object_cannot_be_called_so_names_it() -> None:
    manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x/y", "namespace": "a"}}
    assert misnamed(manifest).startswith(
        "Deployment 'x/y': 'x/y' is no name of a Deployment: wanted lower case letters"
    )
    assert misnamed({**manifest, "metadata": {"name": "x"}}) == ""
    assert Ref.read(manifest) is None


def test_a_cluster_scoped_kind_has_no_namespace() -> None:
    assert NAMESPACE.ref("olm", "ignored").namespace == ""


def test_a_kind_knows_its_group_and_version() -> None:
    assert (SUBSCRIPTION.group, SUBSCRIPTION.version) == ("operators.coreos.com", "v1alpha1")
    assert (NAMESPACE.group, NAMESPACE.version) == ("", "v1")


def test_every_kind_is_listed_once() -> None:
    assert len(BY_IDENTITY) == len(KINDS)
