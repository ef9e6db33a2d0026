"""Names and labels as the API server takes them."""

from __future__ import annotations

import pytest

from shared.domain.syntax import LABEL, LABEL_1035, LABEL_VALUE, QUALIFIED_NAME, SUBDOMAIN, Syntax


@pytest.mark.parametrize(
    ("syntax", "fitting", "refused"),
    [
        pytest.param(LABEL, "a a-1 1a", "A a. -a a- a_b", id="a label"),
        pytest.param(LABEL_1035, "a a-1", "1a A a.b -a", id="a label that begins with a letter"),
        pytest.param(SUBDOMAIN, "a a.b a-1.2", "A .a a. a..b a_b", id="a subdomain"),
        pytest.param(LABEL_VALUE, "a A_.-1 1", "-a a- a/b é", id="the value of a label"),
        pytest.param(QUALIFIED_NAME, "a A_.-1 1", "-a a- a/b é", id="the key of a label"),
    ],
)
def test_which_texts_are_taken(syntax: Syntax, fitting: str, refused: str) -> None:
    assert [text for text in fitting.split() if syntax.problems(text)] == []
    assert [text for text in refused.split() if syntax.problems(text) != [syntax.rule]] == []


def test_only_the_value_of_a_label_may_be_empty() -> None:
    assert [one for one in (LABEL, LABEL_1035, SUBDOMAIN, LABEL_VALUE, QUALIFIED_NAME) if one.fits("")] == [LABEL_VALUE]


def test_length_is_counted_in_bytes_and_told_first() -> None:
    assert LABEL.problems("a" * 63) == []
    assert LABEL.problems("a" * 64) == ["must be no more than 63 bytes"]
    assert LABEL.problems("é" * 32) == ["must be no more than 63 bytes", LABEL.rule]


def test_the_sentence_is_that_of_the_api_server() -> None:
    assert LABEL.rule == (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
        "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
    )
