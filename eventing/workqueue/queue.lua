-- The functions that all scripts of the queue share; prepended to each of them.
local call, job_key, now = call, job_key, now -- why: what was declared last is captured soonest, in each call of each script

-- Whether a drainer of the group has announced that it is awake now; `long` is a group of its own here.
local function is_awake(group) return (tonumber(call('ZSCORE', AWAKE, group)) or 0) > now end

-- Wakes the waker, which wakes the Service of a group without an awake drainer.
local function wake_waker(group)
  if call('LLEN', WAKER) == 0 and not is_awake(group) then call('RPUSH', WAKER, 1) end
end

-- Wakes one waiting drainer of the group.
local function wake_drainer(group)
  if call('LLEN', WAKEUP .. group) == 0 then call('RPUSH', WAKEUP .. group, 1) end
  wake_waker(group)
end

-- Wakes one sweeper, which reads the delays again.
local function wake_sweeper()
  if call('LLEN', SWEEPER_WAKEUP) == 0 then call('RPUSH', SWEEPER_WAKEUP, 1) end
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

-- Puts a job in line, at its present place or at a new one; as blocked while its ref is claimed.
-- A job in line has no delay.
local function line_up(entry, since)
  local job, group, ref = job_key(entry), parts(entry)
  local seq, lane, due, order = unpack(call('HMGET', job, 'seq', 'lane', 'due', 'order'))
  lane = lane or 'direct'
  local spent = lane ~= 'long' and spent_of(lane, payer_of(ref))
  if due then forget_delay(entry) end
  if not (seq and order) then
    seq = seq or call('INCR', SEQUENCE)
    order = spent and order_of(entry, seq, spent) or seq
    call('HSET', job, 'seq', seq, 'since', since, 'order', order)
  end
  if call('HEXISTS', CLAIMED, ref) == 1 then
    call('SADD', blocked_key(ref), entry)
    return
  end
  call('SADD', GROUPS, group)
  if lane == 'long' then
    local namespace = namespace_of(ref)
    call('ZADD', ready_key(group, lane), seq, entry)
    call('ZADD', long_key(namespace), seq, entry)
    call('ZADD', LONG_NAMESPACES, 'NX', seq, namespace)
    wake_sweeper()
    wake_waker(lane)
  else
    enter_line(entry, group, lane, seq, order, payer_of(ref), spent)
    wake_drainer(group)
  end
end

-- Takes an entry of the long lane out of line; its namespace goes to the end of the turns.
local function leave_long_line(entry, group, ref)
  local namespace = namespace_of(ref)
  call('ZREM', ready_key(group, 'long'), entry)
  call('ZREM', long_key(namespace), entry)
  if call('EXISTS', long_key(namespace)) == 1 then call('ZADD', LONG_NAMESPACES, call('INCR', SEQUENCE), namespace)
  else call('ZREM', LONG_NAMESPACES, namespace) end
end

-- How many long runs one namespace may have now: where there are several workers, it never has them all.
local function long_limit(budget)
  return math.max(1, math.min(budget, call('SCARD', LONG_WORKERS) - 1))
end

-- The entries of the long lane that may run now, each with its place in line; namespaces in turn, at most 100.
local function next_long(budget)
  local found, limit = {}, long_limit(budget)
  local namespaces = call('ZRANGE', LONG_NAMESPACES, 0, 99)
  for rank = 1, limit do
    for _, namespace in ipairs(namespaces) do
      if #found < 200 and rank <= limit - call('SCARD', running_key(namespace)) then
        local entry, seq = unpack(call('ZRANGE', long_key(namespace), rank - 1, rank - 1, 'WITHSCORES'))
        if entry then found[#found + 1], found[#found + 2] = entry, tonumber(seq) end
      end
    end
  end
  return found
end

-- What was reported of what the runs of a step read (journal/changes.py): key, sum, newest, writes of all and of the worker,
-- restored. A run need not ask for it then.
local function reported_to(worker, entry, ref)
  local found, namespace, name = {}, ref:match('([^/]*)/([^/]*)$')
  local own = namespace ~= '' and namespace or name
  for index, place in ipairs(call('SMEMBERS', READS .. entry:match('^[^|]*'))) do
    if index > MAX_REPORTED then break end -- processes add to it; a run asks for the rest
    local key = CHANGES .. string.gsub(place, '%*$', (string.gsub(own, '%%', '%%%%')))
    local counts = call('HMGET', key, 'sum', 'newest', 'writes', 'writes:' .. worker, 'restored')
    table.insert(counts, 1, key)
    found[#found + 1] = counts
  end
  return found
end

-- Makes a run of an entry that is out of line, and returns its claim.
local function claim_entry(entry, lane, worker, lease)
  local job, _, ref = job_key(entry), parts(entry)
  -- Monotonic, and greater than every earlier token even after Redis lost all its data.
  local token = math.max(clock[1] * 1000000 + clock[2], (tonumber(call('GET', TOKEN)) or 0) + 1)
  token = string.format('%.0f', token)
  call('SET', TOKEN, token)
  call('HSET', CLAIMED, ref, token .. '|' .. worker .. '|' .. entry)
  call('ZADD', LEASES, now + lease, ref)
  if lane == 'long' then call('SADD', running_key(namespace_of(ref)), ref) end
  local causes, count, since, attempts, ended, seq, alone =
    unpack(call('HMGET', job, 'causes', 'causes_count', 'since', 'attempts', 'ended', 'seq', 'alone'))
  call('HSET', job, 'running', causes or '', 'running_count', count or 0, 'running_lane', lane)
  call('HDEL', job, 'causes', 'causes_count', 'since', 'seq', 'order', 'wrote', 'rests')
  local trace
  for _, cause in ipairs(lines(causes)) do trace = trace or call('GET', trace_key(cause)) end
  return {entry, token, lane, causes or '', tonumber(count) or 0, (tonumber(attempts) or 0) + 1,
          now - (tonumber(since) or now), trace or '', ended or '', tonumber(seq) or 0, tonumber(alone) or 0,
          reported_to(worker, entry, ref)}
end

local function delay_until(entry, due)
  local job = job_key(entry)
  local present = tonumber(call('HGET', job, 'due'))
  if present and present <= due then return end
  call('HSET', job, 'due', string.format('%.0f', due))
  call('ZADD', DELAYED, due, entry)
  if call('ZRANK', DELAYED, entry) == 0 then wake_sweeper() end
end

-- Puts a job in line; one that was a dead letter since its last success not before its back-off is over.
local function line_up_after_back_off(entry)
  local rests = tonumber(call('HGET', job_key(entry), 'rests')) or 0
  if rests > now then delay_until(entry, rests) else line_up(entry, now) end
end

local function unpark(entry)
  local _, ref = parts(entry)
  call('ZREM', DEAD, entry)
  call('SREM', parked_key(ref), entry)
  hide_dead_letter(entry)
  call('HDEL', job_key(entry), 'parked', 'wrote')
end

-- Releases the parked entries of a ref, except those for which the event is an own one.
local function release(ref, cause)
  for _, entry in ipairs(call('SMEMBERS', parked_key(ref))) do
    if not has_line(call('HGET', job_key(entry), 'wrote'), cause) then
      unpark(entry)
      note_causes(job_key(entry), {cause}, 1, 'causes')
      line_up_after_back_off(entry)
    end
  end
end

-- Enqueues a job for an event. Returns true when the job was not waiting yet.
local function add(entry, lane, cause, delay)
  local job, group, ref = job_key(entry), parts(entry)
  local seq, due, old_lane, wrote, parked, rests =
    unpack(call('HMGET', job, 'seq', 'due', 'lane', 'wrote', 'parked', 'rests'))
  note_causes(job, {cause}, 1, 'causes')
  if seq then
    if lane == 'direct' and old_lane == 'bulk' then
      local since = call('HGET', job, 'since')
      if call('ZSCORE', ready_key(group, old_lane), entry) then
        leave_line(entry, group, old_lane, payer_of(ref), spent_of(old_lane, payer_of(ref)))
      end
      call('HSET', job, 'lane', lane)
      call('HDEL', job, 'order') -- what a namespace has spent in one lane means nothing in the other
      line_up(entry, since)
    end
    return false
  end
  if parked or (due and has_line(wrote, cause)) then return false end -- the event of its own write shortens nothing
  if old_lane ~= 'direct' or lane ~= 'bulk' then call('HSET', job, 'lane', lane) end -- one that fails keeps its lane
  if delay > 0 then
    delay_until(entry, math.max(now + delay, tonumber(rests) or 0))
  else
    line_up_after_back_off(entry)
  end
  return true
end
