"""The order of the operators in one channel: the head first, then along `replaces` (resolver.md §5.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shared.domain.resolver.operators import Operator
from shared.domain.resolver.reasons import Code, Reason


class ChannelError(ValueError):
    """A channel whose entries have no single order."""

    def __init__(self, code: Code, text: str) -> None:
        super().__init__(text)
        self.reason = Reason(code, text)


def in_order(operators: Sequence[Operator]) -> tuple[Operator, ...]:
    """The operators of one channel from head to tail, without skipped ones. ChannelError unless they form one chain."""
    if not operators:
        return ()
    known = {one.name: one for one in operators}  # of several with one name, only the last can be replaced
    skipped = {name for one in operators for name in one.skips if name in known}
    passed = skipped | {one.replaces for one in operators}
    heads = [one for one in operators if one.name not in passed or known[one.name] is not one]
    where = f'in channel "{operators[0].channel}" of package "{operators[0].package}"'
    if not heads:
        text = f"no channel heads (entries not replaced by another entry) found {where}"
        raise ChannelError(Code.CHANNEL_WITHOUT_HEAD, text)
    chains = [[one for one in _chain(head, known, where) if one.name not in skipped] for head in heads]
    if len(chains) > 1:
        text = (
            "a unique replacement chain within a channel is required to determine the relative order between channel "
            f"entries, but {len(chains)} replacement chains were found {where}: {', '.join(map(_shown, chains))}"
        )
        raise ChannelError(Code.CHANNEL_FORKED, text)
    return tuple(chains[0])


def _chain(head: Operator, known: Mapping[str, Operator], where: str) -> list[Operator]:
    chain, seen = [head], {head.name}
    while (following := known.get(chain[-1].replaces)) is not None:
        if following.name in seen:
            text = f'a cycle exists in the chain of replacement beginning with "{head.name}" {where}'
            raise ChannelError(Code.CHANNEL_CYCLE, text)
        chain.append(following)
        seen.add(following.name)
    return chain


def _shown(chain: Sequence[Operator]) -> str:
    return "...".join(one.name for one in dict.fromkeys((*chain[:1], *chain[-1:]))) or "[]"
