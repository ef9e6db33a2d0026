-- ARGV: worker, lease in ms, groups. Returns a claim of the direct or bulk lane, or false when nothing can run.
local worker, lease = ARGV[1], tonumber(ARGV[2])

local function has_ready(group)
  return call('EXISTS', ready_key(group, 'direct'), ready_key(group, 'bulk')) > 0
end

-- The group whose first entry in line is the first of all.
local function next_group(lane)
  local group, earliest
  for i = 3, #ARGV do
    local head = call('ZRANGE', ready_key(ARGV[i], lane), 0, 0, 'WITHSCORES')
    local seq = tonumber(head[2])
    if seq and (not earliest or seq < earliest) then group, earliest = ARGV[i], seq end
  end
  return group
end

-- Who always has direct work stops nobody's bulk work: one claim of BULK_EVERY looks there first.
local lanes = call('INCR', CLAIMS) % BULK_EVERY == 0 and {'bulk', 'direct'} or {'direct', 'bulk'}
for _, lane in ipairs(lanes) do
  local group = next_group(lane)
  while group do
    local entry, place = unpack(call('ZPOPMIN', ready_key(group, lane)))
    local _, ref = parts(entry)
    if call('HEXISTS', HELD, ref) == 0 then
      served(lane, tonumber(place))
      local claim = take(entry, lane, worker, lease)
      if has_ready(group) then ring(group) end -- wakes the next drainer, which wakes the next
      return claim
    end
    call('SADD', blocked_key(ref), entry)
    group = next_group(lane)
  end
end
return false
