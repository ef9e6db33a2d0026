"""Advised commands as values: quoted for a shell, with the options of whoever reads them."""

from __future__ import annotations

import shlex

import pytest

from shared.domain.command import Command, kubectl, olmf


@pytest.mark.parametrize(
    ("command", "options", "want"),
    [
        pytest.param(olmf("why", "Subscription/a", namespace="n"), {}, "olmf why Subscription/a -n n", id="plain"),
        pytest.param(
            olmf("queue", "retry"), {"olmf": ("--state", "s 1")}, "olmf queue retry --state 's 1'", id="with a cluster"
        ),
        pytest.param(olmf("list"), {"kubectl": ("--kubeconfig", "k")}, "olmf list", id="options of another program"),
        pytest.param(
            olmf("why", "a/b"), {"olmf why": ("--from", "x"), "olmf": ("--state", "s")}, "olmf why a/b --from x",
            id="options of the verb come first",
        ),
        pytest.param(
            kubectl("annotate", "sub", "a", "olmf.io/version-", namespace="n"), {"kubectl": ("--kubeconfig", "k")},
            "kubectl -n n annotate sub a olmf.io/version- --kubeconfig k", id="kubectl",
        ),
        pytest.param(
            kubectl("create", "-f", "-", stdin='{"a":1}'), {}, """echo '{"a":1}' | kubectl create -f -""", id="piped"
        ),
        pytest.param(
            kubectl("patch", "-p", "it's"), {}, """kubectl patch -p 'it'"'"'s'""", id="what a shell would take apart"
        ),
    ],
)  # fmt: skip
def test_a_command_is_a_line_for_a_shell(command: Command, options: dict[str, tuple[str, ...]], want: str) -> None:
    assert command.text(options) == want
    if not command.stdin:
        assert shlex.split(want)[: len(command.words)] == list(command.words)
    assert str(command) == command.text()
