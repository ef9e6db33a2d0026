"""Amounts as Kubernetes writes them."""

from __future__ import annotations

import pytest

from shared.domain.go_types.quantity import NotAQuantity, canonical


@pytest.mark.parametrize(
    ("given_text", "desired"),
    [
        ("1024Mi", "1Gi"), ("0.5", "500m"), ("1000m", "1"), ("1500m", "1500m"), ("2.5Gi", "2560Mi"), ("1e3", "1e3"),
        ("12E6", "12E6"), ("1E", "1E"), ("0.1Ki", "102400m"), ("1Ki", "1Ki"), ("1023", "1023"), ("0", "0"),
        ("1.", "1."),
        (".5", "500m"), ("1000Ki", "1000Ki"), ("-1Gi", "-1Gi"), ("0.0000000001", "1n"), ("1e0", "1e0"),
        ("100M", "100M"),
        ("1024Ei", "9223372036854775807"), ("0Mi", "0"), ("1e5", "100e3"), ("1.5e3", "1500"), ("1e-12", "1e-9"),
        ("+5Ki", "+5Ki"), ("Mi", "0"), ("3.3Ki", "3379200m"), ("1.5Ki", "1536"), ("100000k", "100M"),
        ("99999999999999999999", "99999999999999999999"), ("-8.5Ki", "-8704"),
    ],
)  # fmt: skip
def test_an_amount_is_written_as_kubernetes_writes_it(given_text: str, desired: str) -> None:
    """Texts that are short already stay as they are, which is a habit of Kubernetes; the others get their one text."""
    assert canonical(given_text) == desired


@pytest.mark.parametrize("text", ["", "x", "1Zi", "1 Gi", "1e", "--1", "1.2.3"])
def test_what_states_no_amount_is_refused(text: str) -> None:
    with pytest.raises(NotAQuantity):
        canonical(text)
