"""Identities survive their text form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.kinds import BY_IDENTITY, KINDS, NAMESPACE, SUBSCRIPTION, Ref

WORD = st.from_regex(r"[a-zA-Z0-9.:-]{1,20}", fullmatch=True)


@given(group=st.one_of(st.just(""), WORD), version=WORD, kind=WORD, name=WORD, namespace=st.one_of(st.just(""), WORD))
def test_a_ref_survives_its_text_form(group: str, version: str, kind: str, name: str, namespace: str) -> None:
    ref = Ref(f"{group}/{version}" if group else version, kind, name, namespace)
    assert Ref.parse(str(ref)) == ref


@pytest.mark.parametrize("text", ["", "a", "v1/Namespace/olm", "v1//ns/name", "v1/Kind/ns/", "a/b/c/d/e/f"])
def test_a_text_that_is_no_ref_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match="is not a ref"):
        Ref.parse(text)


def test_a_cluster_scoped_kind_has_no_namespace() -> None:
    assert NAMESPACE.ref("olm", "ignored").namespace == ""


def test_a_kind_knows_its_group_and_version() -> None:
    assert (SUBSCRIPTION.group, SUBSCRIPTION.version) == ("operators.coreos.com", "v1alpha1")
    assert (NAMESPACE.group, NAMESPACE.version) == ("", "v1")


def test_every_kind_is_listed_once() -> None:
    assert len(BY_IDENTITY) == len(KINDS)
