"""The order of the operators in one channel: the head first, then along `replaces` (resolver.md §5.4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

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
    if len(heads) > 1:
        shown = ", ".join(map("...".join, _ends(heads, known, skipped, where)))
        text = (
            "a unique replacement chain within a channel is required to determine the relative order between channel "
            f"entries, but {len(heads)} replacement chains were found {where}: {shown}"
        )
        raise ChannelError(Code.CHANNEL_FORKED, text)
    return tuple(one for one in _chain(heads[0], known, where) if one.name not in skipped)


def _ends(
    heads: Iterable[Operator], known: Mapping[str, Operator], skipped: Collection[str], where: str
) -> Iterator[tuple[str, ...]]:
    """First and last name of the chain of each head, without skipped ones; what chains share is followed once."""
    ends: dict[str, tuple[str, ...]] = {}
    for head in heads:
        path = _chain(head, known, where, ends)
        below = ends.get(path[-1].replaces, ())
        for one in reversed(path):
            if one.name not in skipped:
                below = tuple(dict.fromkeys((one.name, *below[-1:])))
            if known[one.name] is one:
                ends[one.name] = below
        yield below or ("[]",)


def _chain(head: Operator, known: Mapping[str, Operator], where: str, followed: Collection[str] = ()) -> list[Operator]:
    """The operators from the head on, up to the first whose next one was followed before."""
    chain, seen = [head], {head.name}
    while (following := known.get(chain[-1].replaces)) is not None and following.name not in followed:
        if following.name in seen:
            text = f'a cycle exists in the chain of replacement beginning with "{head.name}" {where}'
            raise ChannelError(Code.CHANNEL_CYCLE, text)
        chain.append(following)
        seen.add(following.name)
    return chain
