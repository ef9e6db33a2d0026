"""Notes in Redis that an event told of a version of an object: once, however often the event is delivered.

On Knative each Service gets its own delivery of an event, and a delivery that failed halfway is repeated. So the
version that was last told of an object (`seen`) decides whether an event is news; only news counts as a change
(`changes`). Versions are compared as texts: equal or not, and two decimal ones by length, then digits. Their weights
are summed modulo a number that Redis' arithmetic holds exactly: neither long versions nor a long life overflow.
"""

from __future__ import annotations

import secrets
from typing import Any

from eventing.events.event import Event, change_of
from shared.adapters.kube.cached import MODULUS
from shared.resource_versions import weight

_REPEAT_SECONDS = 300
"""Within this time a repeated deletion is recognised: afterwards it costs a read, and no more."""

_SCRIPT = """
local seen, gone = KEYS[1], KEYS[2]
local ref, version, day, weight, keep = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local function is_newer(one, other)
  if not (string.match(one, '^[1-9]%d*$') and string.match(other, '^[1-9]%d*$')) then return false end
  return #one > #other or (#one == #other and one > other)
end
if day == 'gone' then
  redis.call('HDEL', seen, ref)
  if not redis.call('SET', gone, 1, 'NX', 'EX', ARGV[6]) then return 0 end
elseif version ~= '' then
  local told = string.match(redis.call('HGET', seen, ref) or '', '^([^ ]*)')
  if told == version or is_newer(told, version) then return 0 end
  redis.call('HSET', seen, ref, version .. ' ' .. day)
end
for i = 3, #KEYS do
  local sum, newest = unpack(redis.call('HMGET', KEYS[i], 'sum', 'newest'))
  redis.call('HSET', KEYS[i], 'sum', string.format('%.0f', ((tonumber(sum or 0) or 0) + weight) % tonumber(ARGV[7])))
  if is_newer(version, newest or '0') or (not newest and string.match(version, '^[1-9]%d*$')) then
    redis.call('HSET', KEYS[i], 'newest', version)
  end
  redis.call('EXPIRE', KEYS[i], keep)
end
return 1
"""


def note(pipe: Any, event: Event, *, seen: str, places: tuple[str, ...], day: int, keep_seconds: int) -> None:
    """Add the command that notes an event to a pipeline; one that names no resourceVersion spoils every sum."""
    change = change_of(event.id)
    uid, version = change or ("", "")
    is_gone = change is not None and event.type.endswith(".delete")
    by = weight(version) if change else secrets.randbelow(MODULUS)
    pipe.execute_command(
        "EVAL", _SCRIPT, 2 + len(places), seen, f"olmf:gone:{uid}.{version}", *places,
        str(event.ref), version, "gone" if is_gone else day, by, keep_seconds, _REPEAT_SECONDS, MODULUS,
    )  # fmt: skip
