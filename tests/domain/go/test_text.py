from __future__ import annotations

import pytest

from shared.domain.go.text import as_opm_prints, fold, from_base64, quoted


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("foo", '"foo"', id="plain"),
        pytest.param('a"b\\', '"a\\"b\\\\"', id="quotes"),
        pytest.param("\n\t\x00\x7f", '"\\n\\t\\x00\\x7f"', id="control characters"),
        pytest.param("é😀", '"é😀"', id="letters of the world"),
        pytest.param('\u2028\U000e0001"', '"\\u2028\\U000e0001\\""', id="characters that cannot be seen"),
        pytest.param('"é', '"\\"é"', id="both"),
    ],
)
def test_fbc_md_0_a_text_between_quotes(text: str, want: str) -> None:
    assert quoted(text) == want


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param(None, "%!t(<nil>): <nil>", id="nothing"),
        pytest.param(True, "true: true", id="a truth value"),
        pytest.param(False, "false: false", id="the other one"),
        pytest.param(5, "%!t(float64=5): 5", id="a number"),
        pytest.param(1.5, "%!t(float64=1.5): 1.5", id="a fraction"),
        pytest.param(1e21, "%!t(float64=1e+21): 1e+21", id="a large number"),
        pytest.param(1000000, "%!t(float64=1e+06): 1e+06", id="a million, from which on there is an exponent"),
        pytest.param(1234567.5, "%!t(float64=1.2345675e+06): 1.2345675e+06", id="a large fraction"),
        pytest.param(1e-7, "%!t(float64=1e-07): 1e-07", id="a small number"),
        pytest.param([None, "a"], "[<nil> %!t(string=a)]: [<nil> a]", id="a list"),
        pytest.param({"b": 1, "a": {}}, "map[%!t(string=a):map[] %!t(string=b):%!t(float64=1)]: map[a:map[] b:1]"),
    ],
)
def test_fbc_md_2_2_a_value_that_should_be_a_text(value: object, want: str) -> None:
    assert as_opm_prints(value) == want


def test_a_deep_value_is_not_shown_to_its_bottom() -> None:
    value: object = 1
    for _ in range(5000):
        value = [value]
    assert as_opm_prints(value).count("...") == 2


def test_base64_is_strict_but_for_line_breaks() -> None:
    assert from_base64("aG\nk=\r\n") == b"hi"
    for wrong in ("aGk", "aGk=x", "a", "é", "aGk===", "aGk1=", "aGk1====", "="):
        with pytest.raises(ValueError, match=r"."):
            from_base64(wrong)


def test_names_fold_as_go_folds_them() -> None:
    assert fold("ſKIPS") == fold("Skips") == fold("\u212aIPS".replace("\u212a", "sK")) == "skips"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("#", 0, id="no letter"),
        pytest.param("aG\nk", 1, id="a group that is not complete begins there, by letters"),
        pytest.param("aGkA=", 4, id="padding behind complete data"),
        pytest.param("a=", 1, id="padding too early"),
        pytest.param("aG=", 3, id="half a padding at the end"),
        pytest.param("aG=\nx", 3, id="half a padding, and something else"),
        pytest.param("aG==x", 4, id="something behind the padding"),
        pytest.param("aGk=\r\nx", 6, id="something on the next line"),
        pytest.param("aGkAé", 4, id="no letter of this alphabet"),
    ],
)
def test_where_a_text_is_not_base64(text: str, place: int) -> None:
    with pytest.raises(ValueError, match=f"^illegal base64 data at input byte {place}$"):
        from_base64(text)
