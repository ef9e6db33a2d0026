-- ARGV: worker, lease in ms, groups. Returns a claim of the direct or bulk lane, or false when nothing can run.
local worker, lease = ARGV[1], tonumber(ARGV[2])

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
      local claim = take(entry, lane, worker, lease)
      if has_ready(group) then ring(group) end -- wakes the next drainer, which wakes the next
      return claim
    end
    call('SADD', blocked_key(ref), entry)
    group = next_group(lane)
  end
end
return false
