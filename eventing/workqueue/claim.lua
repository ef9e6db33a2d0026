-- ARGV: worker, lease in ms, groups. Returns a claim, or false when nothing can run.
local worker, lease = ARGV[1], tonumber(ARGV[2])

local function take(entry, lane)
  local job, _, ref = job_key(entry), parts(entry)
  -- Monotonic, and beyond every earlier token even after Redis lost all of its memory.
  local token = math.max(clock[1] * 1000000 + clock[2], (tonumber(call('GET', TOKEN)) or 0) + 1)
  token = string.format('%.0f', token)
  call('SET', TOKEN, token)
  call('HSET', HELD, ref, token .. '|' .. worker .. '|' .. entry)
  call('ZADD', LEASES, now + lease, ref)
  local causes, count, since, attempts =
    unpack(call('HMGET', job, 'causes', 'causes_count', 'since', 'attempts'))
  call('HSET', job, 'running', causes or '', 'running_count', count or 0)
  call('HDEL', job, 'causes', 'causes_count', 'since', 'seq', 'wrote')
  return {entry, token, lane, causes or '', tonumber(count) or 0, (tonumber(attempts) or 0) + 1,
          now - (tonumber(since) or now)}
end

local function has_ready(group)
  return call('EXISTS', ready_key(group, 'direct'), ready_key(group, 'bulk')) > 0
end

local count = #ARGV - 2
local first = clock[2] -- no group is always asked first
for _, lane in ipairs({'direct', 'bulk'}) do
  for i = 0, count - 1 do
    local group = ARGV[3 + (first + i) % count]
    local popped = call('ZPOPMIN', ready_key(group, lane))
    while popped[1] do
      local _, ref = parts(popped[1])
      if call('HEXISTS', HELD, ref) == 0 then
        local claim = take(popped[1], lane)
        if has_ready(group) then ring(group) end -- wakes the next drainer, which wakes the next
        return claim
      end
      call('SADD', blocked_key(ref), popped[1])
      popped = call('ZPOPMIN', ready_key(group, lane))
    end
  end
end
return false
