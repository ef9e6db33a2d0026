"""How often YAML may repeat itself."""

from __future__ import annotations

import pytest
import yaml

from shared.domain.go.yaml_reader import is_excessive


def bomb(levels: int, width: int) -> str:
    """A list of lists, each of which is the one before, several times."""
    lines = ["a0: &a0 [x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * width)}]" for level in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "excessive"),
    [
        pytest.param("a: &a x\nb: *a", False, id="an alias of a text"),
        pytest.param(bomb(3, 30), False, id="a thousand nodes"),
        pytest.param(bomb(4, 9), False, id="hardly more"),
        pytest.param(bomb(3, 100), True, id="ten thousand nodes, all but a few of them behind aliases"),
        pytest.param(bomb(6, 9), True, id="a bomb"),
        pytest.param(bomb(30, 30), True, id="more nodes than there are atoms"),
        pytest.param("a: &a [x]\nb:\n" + "- *a\n" * 2000, False, id="two thousand aliases of one thing"),
        pytest.param(
            "a: &a [" + "x," * 3000 + "]\nb:\n" + "- *a\n" * 300, True, id="a million nodes, most of them aliased"
        ),
        pytest.param("b: *gone", False, id="an alias of nothing is for the reader to refuse"),
        pytest.param("a: 1\n---\n" + bomb(6, 9), False, id="only the first document counts"),
    ],
)
def test_a_bomb_is_told_from_a_manifest(text: str, excessive: bool) -> None:
    assert is_excessive(yaml.parse(text, Loader=yaml.CSafeLoader)) is excessive


def test_a_document_may_just_end() -> None:
    assert not is_excessive([])
