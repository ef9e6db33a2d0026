-- The functions that all scripts of the queue share; prepended to each of them. __init__.py describes the keys.
local HELD, LEASES, DELAYED, DEAD = 'olmf:held', 'olmf:leases', 'olmf:delayed', 'olmf:dead'
local TOKEN, SEQUENCE, GROUPS, ALARM = 'olmf:token', 'olmf:sequence', 'olmf:groups', 'olmf:alarm'
local MAX_CAUSES, TRACE_SECONDS = 32, 300

local call = redis.call
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function job_key(entry) return 'olmf:job:' .. entry end
local function blocked_key(ref) return 'olmf:blocked:' .. ref end
local function parked_key(ref) return 'olmf:parked:' .. ref end
local function trace_key(cause) return 'olmf:trace:' .. cause end
local function note_trace(cause, trace) if trace ~= '' then call('SET', trace_key(cause), trace, 'EX', TRACE_SECONDS) end end
local function ready_key(group, lane) return 'olmf:ready:' .. group .. ':' .. lane end

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

-- Puts a job in line, at its present place or at the end; as blocked while its ref is held.
-- A job in line has no delay.
local function line_up(entry, since)
  local job, group, ref = job_key(entry), parts(entry)
  local seq, lane, due = unpack(call('HMGET', job, 'seq', 'lane', 'due'))
  if due then forget_delay(entry) end
  if not seq then
    seq = call('INCR', SEQUENCE)
    call('HSET', job, 'seq', seq, 'since', since)
  end
  if call('HEXISTS', HELD, ref) == 1 then
    call('SADD', blocked_key(ref), entry)
  else
    call('ZADD', ready_key(group, lane), seq, entry)
    call('SADD', GROUPS, group)
    ring(group)
  end
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
  local seq, due, old_lane, wrote, parked = unpack(call('HMGET', job, 'seq', 'due', 'lane', 'wrote', 'parked'))
  note_causes(job, {cause}, 1, 'causes')
  if seq then
    if lane == 'direct' and old_lane == 'bulk' then
      call('HSET', job, 'lane', lane)
      if call('ZREM', ready_key(group, old_lane), entry) == 1 then line_up(entry, now) end
    end
    return false
  end
  if parked or (due and has_line(wrote, cause)) then return false end -- the event of its own write shortens nothing
  call('HSET', job, 'lane', lane)
  if delay > 0 then
    delay_until(entry, now + delay)
  else
    line_up_rested(entry)
  end
  return true
end
