-- ARGV: worker, lease in ms, groups. Returns a claim, or false when nothing can run.
local worker, lease = ARGV[1], tonumber(ARGV[2])

local function take(entry, lane)
  local job, _, ref = job_key(entry), parts(entry)
  -- Monotonic, and greater than every earlier token even after Redis lost all its data.
  local token = math.max(clock[1] * 1000000 + clock[2], (tonumber(call('GET', TOKEN)) or 0) + 1)
  token = string.format('%.0f', token)
  call('SET', TOKEN, token)
  call('HSET', HELD, ref, token .. '|' .. worker .. '|' .. entry)
  call('ZADD', LEASES, now + lease, ref)
  local causes, count, since, attempts =
    unpack(call('HMGET', job, 'causes', 'causes_count', 'since', 'attempts'))
  call('HSET', job, 'running', causes or '', 'running_count', count or 0)
  call('HDEL', job, 'causes', 'causes_count', 'since', 'seq', 'wrote', 'rests')
  local trace
  for _, cause in ipairs(lines(causes)) do trace = trace or call('GET', trace_key(cause)) end
  return {entry, token, lane, causes or '', tonumber(count) or 0, (tonumber(attempts) or 0) + 1,
          now - (tonumber(since) or now), trace or ''}
end

local function has_ready(group)
  return call('EXISTS', ready_key(group, 'direct'), ready_key(group, 'bulk')) > 0
end

-- The group whose first entry in line is the oldest.
local function next_group(lane)
  local group, earliest
  for i = 3, #ARGV do
    local head = call('ZRANGE', ready_key(ARGV[i], lane), 0, 0, 'WITHSCORES')
    local seq = tonumber(head[2])
    if seq and (not earliest or seq < earliest) then group, earliest = ARGV[i], seq end
  end
  return group
end

for _, lane in ipairs({'direct', 'bulk'}) do
  local group = next_group(lane)
  while group do
    local entry = call('ZPOPMIN', ready_key(group, lane))[1]
    local _, ref = parts(entry)
    if call('HEXISTS', HELD, ref) == 0 then
      local claim = take(entry, lane)
      if has_ready(group) then ring(group) end -- wakes the next drainer, which wakes the next
      return claim
    end
    call('SADD', blocked_key(ref), entry)
    group = next_group(lane)
  end
end
return false
