from __future__ import annotations

import pytest

from shared.domain.go.float import json_text, yaml_text


@pytest.mark.parametrize(
    ("number", "in_json", "in_yaml"),
    [
        (0.0, "0", "0"),
        (1.0, "1", "1"),
        (-1.5, "-1.5", "-1.5"),
        (1234567.5, "1234567.5", "1.2345675e+06"),
        (100000.5, "100000.5", "100000.5"),
        (0.0001, "0.0001", "0.0001"),
        (0.00001, "0.00001", "1e-05"),
        (1e-6, "0.000001", "1e-06"),
        (1e-7, "1e-7", "1e-07"),
        (-2.5e-10, "-2.5e-10", "-2.5e-10"),
        (1e20, "100000000000000000000", "1e+20"),
        (1e21, "1e+21", "1e+21"),
        (1.25e300, "1.25e+300", "1.25e+300"),
    ],
)
def test_fbc_8_1_a_number_is_written_as_go_writes_it(number: float, in_json: str, in_yaml: str) -> None:
    assert json_text(number) == in_json
    assert yaml_text(number) == in_yaml
