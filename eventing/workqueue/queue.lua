-- The functions that all scripts of the queue share; prepended to each of them. __init__.py describes the keys.
local HELD, LEASES, DELAYED, DEAD = 'olmf:held', 'olmf:leases', 'olmf:delayed', 'olmf:dead'
local TOKEN, SEQUENCE, GROUPS, ALARM = 'olmf:token', 'olmf:sequence', 'olmf:groups', 'olmf:alarm'
local TURNS, LONG_WORKERS = 'olmf:turns', 'rq:workers:olmf-long'
local CLAIMS = 'olmf:claims'
local MAX_CAUSES, TRACE_SECONDS, BULK_EVERY, MAX_CHARGE, CREDIT = 32, 300, 8, 1000, 2000

local call = redis.call
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function job_key(entry) return 'olmf:job:' .. entry end
local function blocked_key(ref) return 'olmf:blocked:' .. ref end
local function parked_key(ref) return 'olmf:parked:' .. ref end
local function trace_key(cause) return 'olmf:trace:' .. cause end
local function note_trace(cause, trace) if trace ~= '' then call('SET', trace_key(cause), trace, 'EX', TRACE_SECONDS) end end
local function ready_key(group, lane) return 'olmf:ready:' .. group .. ':' .. lane end

local function waiting_key(lane) return 'olmf:waiting:' .. lane end
local function rested_key(lane) return 'olmf:rested:' .. lane end
local function used_key(lane) return 'olmf:used:' .. lane end
local function lines_key(lane) return 'olmf:lines:' .. lane end
local function share_key(group, lane, share) return 'olmf:line:' .. group .. ':' .. lane .. ':' .. share end

local function line_key(namespace) return 'olmf:long:' .. namespace end
local function running_key(namespace) return 'olmf:long-running:' .. namespace end

-- '<apiVersion>/<kind>/<namespace>/<name>' -> namespace
local function namespace_of(ref) return ref:match('([^/]*)/[^/]*$') end

-- Whose turn a ref takes: that of its namespace; a Namespace takes its own.
local function share_of(ref) return ref:match('^v1/Namespace//(.*)$') or namespace_of(ref) end

-- '<group>/<step>|<ref>' -> group, ref
local function parts(entry) return entry:match('^([^/|]*)[^|]*|(.*)$') end

local function lines(text)
  local found = {}
  for line in string.gmatch(text or '', '[^\n]+') do found[#found + 1] = line end
  return found
end

local function has_line(text, line) return text and string.find('\n' .. text .. '\n', '\n' .. line .. '\n', 1, true) end

-- The claim of a ref, only if this token holds it.
local function claim_of(ref, token)
  local held = call('HGET', HELD, ref)
  return held and string.sub(held, 1, #token + 1) == token .. '|' and held
end

-- Wakes one waiting drainer of the group.
local function ring(group)
  if call('LLEN', 'olmf:bell:' .. group) == 0 then call('RPUSH', 'olmf:bell:' .. group, 1) end
end

-- Wakes one sweeper, which reads the delays again.
local function ring_alarm()
  if call('LLEN', ALARM) == 0 then call('RPUSH', ALARM, 1) end
end

-- Merges a cause into the fields of a job: all causes are counted, the first MAX_CAUSES are stored by name.
local function note_causes(job, given, given_count, field)
  local kept, count = unpack(call('HMGET', job, field, field .. '_count'))
  local names = lines(kept)
  local added = tonumber(given_count)
  for _, cause in ipairs(given) do
    if has_line(kept, cause) then added = added - 1
    elseif #names < MAX_CAUSES then names[#names + 1] = cause end
  end
  if added > 0 then
    call('HSET', job, field, table.concat(names, '\n'), field .. '_count', (tonumber(count) or 0) + added)
  end
end

local function forget_delay(entry)
  call('ZREM', DELAYED, entry)
  call('HDEL', job_key(entry), 'due')
end

-- Namespaces share the time of the workers, as processes share a processor: of those that wait the one that has used the
-- least goes first. Who comes back begins CREDIT ms before the others: a few runs of somebody quiet, as those of an
-- install, go before any backlog; resting for longer saves nothing more up.
local function used_of(lane, share)
  local least = (tonumber(call('GET', used_key(lane))) or 0) - CREDIT
  return math.max(least, tonumber(call('ZSCORE', rested_key(lane), share)) or least)
end

local function enter_line(entry, group, ref, lane, seq)
  local share = share_of(ref)
  call('ZADD', ready_key(group, lane), seq, entry)
  call('ZADD', share_key(group, lane, share), seq, entry)
  if call('HINCRBY', lines_key(lane), share, 1) > 1 then return end
  -- The fraction keeps the order of arrival among those that have used the same.
  local place = math.floor(used_of(lane, share)) + seq % 1000000 / 1000000
  call('ZADD', waiting_key(lane), string.format('%.6f', place), share)
  call('ZREM', rested_key(lane), share)
end

local function leave_line(entry, group, ref, lane)
  local share = share_of(ref)
  call('ZREM', ready_key(group, lane), entry)
  if call('ZREM', share_key(group, lane, share), entry) == 0 then return end -- it is in none (`mend_lines`)
  if call('HINCRBY', lines_key(lane), share, -1) > 0 then return end
  call('HDEL', lines_key(lane), share)
  call('ZADD', rested_key(lane), call('ZSCORE', waiting_key(lane), share), share)
  call('ZREM', waiting_key(lane), share)
end

-- The entry of these groups that is first in the line of a namespace.
local function first_of(share, lane, groups)
  local first, earliest
  for _, group in ipairs(groups) do
    local entry, seq = unpack(call('ZRANGE', share_key(group, lane, share), 0, 0, 'WITHSCORES'))
    seq = tonumber(seq)
    if seq and (not earliest or seq < earliest) then first, earliest = entry, seq end
  end
  return first
end

-- Notes how far a lane has come; who would begin no later, and does not wait, need not be remembered. Who has waited, and is
-- served at last, goes on where one would begin that comes back: waiting saves nothing up either.
local function note_used(lane, share)
  local place = tonumber(call('ZSCORE', waiting_key(lane), share))
  local used = math.max(tonumber(call('GET', used_key(lane))) or 0, math.floor(place))
  call('SET', used_key(lane), string.format('%.0f', used))
  call('ZREMRANGEBYSCORE', rested_key(lane), '-inf', used - CREDIT)
  if place < used - CREDIT then
    call('ZADD', waiting_key(lane), string.format('%.6f', used - CREDIT + place % 1), share)
  end
end

-- Charges a run to its namespace, however it ended. Nobody is shut out for one slow run: it counts as MAX_CHARGE ms.
local function charge(ref, lane, took_ms)
  if not lane or lane == 'long' then return end -- a build before this one did not note the lane of a run
  local share, ms = share_of(ref), math.max(1, math.min(MAX_CHARGE, math.floor(took_ms)))
  if call('ZSCORE', waiting_key(lane), share) then
    call('ZINCRBY', waiting_key(lane), ms, share)
  else
    call('ZADD', rested_key(lane), used_of(lane, share) + ms, share)
  end
end

-- Puts a job in line, at its present place or at a new one; as blocked while its ref is held.
-- A job in line has no delay.
local function line_up(entry, since)
  local job, group, ref = job_key(entry), parts(entry)
  local seq, lane, due = unpack(call('HMGET', job, 'seq', 'lane', 'due'))
  lane = lane or 'direct'
  if due then forget_delay(entry) end
  if not seq then
    seq = call('INCR', SEQUENCE)
    call('HSET', job, 'seq', seq, 'since', since)
  end
  if call('HEXISTS', HELD, ref) == 1 then
    call('SADD', blocked_key(ref), entry)
    return
  end
  call('SADD', GROUPS, group)
  if lane == 'long' then
    local namespace = namespace_of(ref)
    call('ZADD', ready_key(group, lane), seq, entry)
    call('ZADD', line_key(namespace), seq, entry)
    call('ZADD', TURNS, 'NX', seq, namespace)
    ring_alarm()
  else
    enter_line(entry, group, ref, lane, seq)
    ring(group)
  end
end

-- Takes an entry of the long lane out of line; its namespace goes to the end of the turns.
local function leave_long_line(entry, group, ref)
  local namespace = namespace_of(ref)
  call('ZREM', ready_key(group, 'long'), entry)
  call('ZREM', line_key(namespace), entry)
  if call('EXISTS', line_key(namespace)) == 1 then call('ZADD', TURNS, call('INCR', SEQUENCE), namespace)
  else call('ZREM', TURNS, namespace) end
end

-- How many long runs one namespace may have now: where there are several workers, it never has them all.
local function long_limit(budget)
  return math.max(1, math.min(budget, call('SCARD', LONG_WORKERS) - 1))
end

-- The entries of the long lane that may run now, each with its place in line; namespaces in turn, at most 100.
local function next_long(budget)
  local found, limit = {}, long_limit(budget)
  local namespaces = call('ZRANGE', TURNS, 0, 99)
  for rank = 1, limit do
    for _, namespace in ipairs(namespaces) do
      if #found < 200 and rank <= limit - call('SCARD', running_key(namespace)) then
        local entry, seq = unpack(call('ZRANGE', line_key(namespace), rank - 1, rank - 1, 'WITHSCORES'))
        if entry then found[#found + 1], found[#found + 2] = entry, tonumber(seq) end
      end
    end
  end
  return found
end

-- Makes a run of an entry that is out of line, and returns its claim.
local function take(entry, lane, worker, lease)
  local job, _, ref = job_key(entry), parts(entry)
  -- Monotonic, and greater than every earlier token even after Redis lost all its data.
  local token = math.max(clock[1] * 1000000 + clock[2], (tonumber(call('GET', TOKEN)) or 0) + 1)
  token = string.format('%.0f', token)
  call('SET', TOKEN, token)
  call('HSET', HELD, ref, token .. '|' .. worker .. '|' .. entry)
  call('ZADD', LEASES, now + lease, ref)
  if lane == 'long' then call('SADD', running_key(namespace_of(ref)), ref) end
  local causes, count, since, attempts, ended, seq =
    unpack(call('HMGET', job, 'causes', 'causes_count', 'since', 'attempts', 'ended', 'seq'))
  call('HSET', job, 'running', causes or '', 'running_count', count or 0, 'running_lane', lane)
  call('HDEL', job, 'causes', 'causes_count', 'since', 'seq', 'wrote', 'rests')
  local trace
  for _, cause in ipairs(lines(causes)) do trace = trace or call('GET', trace_key(cause)) end
  return {entry, token, lane, causes or '', tonumber(count) or 0, (tonumber(attempts) or 0) + 1,
          now - (tonumber(since) or now), trace or '', ended or '', tonumber(seq) or 0}
end

local function delay_until(entry, due)
  local job = job_key(entry)
  local present = tonumber(call('HGET', job, 'due'))
  if present and present <= due then return end
  call('HSET', job, 'due', string.format('%.0f', due))
  call('ZADD', DELAYED, due, entry)
  if call('ZRANK', DELAYED, entry) == 0 then ring_alarm() end
end

-- Puts a job in line; one that was a dead letter since its last success not before its back-off is over.
local function line_up_rested(entry)
  local rests = tonumber(call('HGET', job_key(entry), 'rests')) or 0
  if rests > now then delay_until(entry, rests) else line_up(entry, now) end
end

local function unpark(entry)
  local _, ref = parts(entry)
  call('ZREM', DEAD, entry)
  call('SREM', parked_key(ref), entry)
  call('HDEL', job_key(entry), 'parked', 'wrote')
end

-- Releases the parked entries of a ref, except those for which the event is an own one.
local function release(ref, cause)
  local released = {}
  for _, entry in ipairs(call('SMEMBERS', parked_key(ref))) do
    if not has_line(call('HGET', job_key(entry), 'wrote'), cause) then
      unpark(entry)
      note_causes(job_key(entry), {cause}, 1, 'causes')
      line_up_rested(entry)
      released[#released + 1] = entry
    end
  end
  return released
end

-- Rings a job for an event. Returns true when the job was not waiting yet.
local function add(entry, lane, cause, delay)
  local job, group, ref = job_key(entry), parts(entry)
  local seq, due, old_lane, wrote, parked, rests =
    unpack(call('HMGET', job, 'seq', 'due', 'lane', 'wrote', 'parked', 'rests'))
  note_causes(job, {cause}, 1, 'causes')
  if seq then
    if lane == 'direct' and old_lane == 'bulk' then
      local since = call('HGET', job, 'since')
      if call('ZSCORE', ready_key(group, old_lane), entry) then leave_line(entry, group, ref, old_lane) end
      call('HSET', job, 'lane', lane)
      line_up(entry, since)
    end
    return false
  end
  if parked or (due and has_line(wrote, cause)) then return false end -- the event of its own write shortens nothing
  if old_lane ~= 'direct' or lane ~= 'bulk' then call('HSET', job, 'lane', lane) end -- one that fails keeps its lane
  if delay > 0 then
    delay_until(entry, math.max(now + delay, tonumber(rests) or 0))
  else
    line_up_rested(entry)
  end
  return true
end
