"""A group of verbs that are imported when somebody asks for them: the others cost nothing."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from eventing.cli.progress import shown

_AROUND: Final = 6
"""Letters around the name of a verb in a list of them."""


class Verbs(TyperGroup):
    """Verbs and the modules that register them; each of these is imported when one of its verbs is asked for."""

    modules: ClassVar[Mapping[str, Mapping[str, str]]]
    """The verbs of each module, in the order of `--help`, which imports none of them: with what each does."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  # why: of the base class
        """The names of all verbs; imports nothing."""
        return [verb for verbs in self.modules.values() for verb in verbs]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One verb, after its module; all modules for an unknown one, because the error names those that are alike."""
        holders = [module for module, verbs in self.modules.items() if cmd_name in verbs]
        if cmd_name not in self.commands:
            self._load(holders or self.modules)
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  # why: of the base class
        """Write the verbs with what each does."""
        texts = {verb: TyperCommand(verb, help=text) for verbs in self.modules.values() for verb, text in verbs.items()}
        limit = formatter.width - _AROUND - max(map(len, texts))
        with formatter.section("Commands"):
            formatter.write_dl([(verb, one.get_short_help_str(limit)) for verb, one in texts.items()])

    def _load(self, modules: Iterable[str]) -> None:
        app = typer.Typer(rich_markup_mode=None)
        for module in modules:
            importlib.import_module(module).register(app)
        self.commands.update(get_group(app).commands)


class LongVerbs(Verbs):
    """Verbs whose work may take long; a terminal shows how far it is."""

    def invoke(self, ctx: Any) -> Any:
        """Run one."""
        with shown():
            return super().invoke(ctx)
