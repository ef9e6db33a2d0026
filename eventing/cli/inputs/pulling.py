"""The flags of every verb that pulls images, as `opm` has them for all of its verbs (fbc.md §13.1)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from eventing.cli.failure import USAGE, CliError
from shared.adapters.certificates import ARE_IGNORED

_FLAGS = {
    "use_http": Annotated[bool | None, typer.Option("--use-http", help="Speak plain HTTP to registries.")],
    "skip_tls_verify": Annotated[
        bool | None, typer.Option("--skip-tls-verify", help="Trust whatever certificate a registry shows.")
    ],
    "skip_tls": Annotated[bool | None, typer.Option("--skip-tls", hidden=True)],
}


def pulling(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb with these flags behind its own; while it runs, images are pulled as they say."""

    @wraps(verb)
    def run(*args: Any, **words: Any) -> None:
        flags = {name: words.pop(name, None) for name in _FLAGS}
        token = ARE_IGNORED.set(_judged(**flags))
        try:
            verb(*args, **words)
        finally:
            ARE_IGNORED.reset(token)

    keyword = inspect.Parameter.KEYWORD_ONLY
    added = [inspect.Parameter(name, keyword, default=None, annotation=kind) for name, kind in _FLAGS.items()]
    signature = inspect.signature(verb, eval_str=True)
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *added])  # type: ignore[attr-defined]
    run.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()} | _FLAGS
    return run


def _judged(*, use_http: bool | None, skip_tls_verify: bool | None, skip_tls: bool | None) -> bool:
    """Whether certificates do not count. CliError when the flags contradict each other."""
    if use_http is not None and skip_tls is not None:
        raise CliError("invalid flag combination: cannot use --use-http with --skip-tls", USAGE)
    if skip_tls_verify is not None and skip_tls is not None:
        raise CliError("invalid flag combination: cannot use --skip-tls-verify with --skip-tls", USAGE)
    if use_http and skip_tls_verify:
        raise CliError("invalid flag combination: --use-http and --skip-tls-verify cannot both be true", USAGE)
    return bool(use_http or skip_tls_verify or skip_tls)


def is_lax() -> bool:
    """Whether certificates do not count while this verb runs."""
    return ARE_IGNORED.get()
