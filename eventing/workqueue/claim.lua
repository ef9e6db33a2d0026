-- ARGV: worker, lease in ms, groups. Returns a claim of the direct or bulk lane, or false when nothing can run.
local worker, lease, groups = ARGV[1], tonumber(ARGV[2]), {unpack(ARGV, 3)}
local PAGE = 50

local function has_ready(group)
  return call('EXISTS', ready_key(group, 'direct'), ready_key(group, 'bulk')) > 0
end

-- Takes the first entry of a namespace whose ref is free; those whose ref is held wait for that. What an older build has
-- claimed is still in a line, and in nothing else.
local function take_of(share, lane)
  local entry = first_of(share, lane, groups)
  while entry do
    local group, ref = parts(entry)
    local is_ready = call('ZSCORE', ready_key(group, lane), entry)
    note_used(lane, share)
    leave_line(entry, group, ref, lane)
    if is_ready and call('HEXISTS', HELD, ref) == 0 then
      local claim = take(entry, lane, worker, lease)
      if has_ready(group) then ring(group) end -- wakes the next drainer, which wakes the next
      return claim
    end
    if is_ready then call('SADD', blocked_key(ref), entry) end
    entry = first_of(share, lane, groups)
  end
end

local function take_next(lane)
  local keys, seen = {}, 0
  for i, group in ipairs(groups) do keys[i] = ready_key(group, lane) end
  if call('EXISTS', unpack(keys)) == 0 then return end
  repeat
    local shares, before = call('ZRANGE', waiting_key(lane), seen, seen + PAGE - 1), call('ZCARD', waiting_key(lane))
    for _, share in ipairs(shares) do
      local claim = take_of(share, lane)
      if claim then return claim end
    end
    seen = seen + #shares - (before - call('ZCARD', waiting_key(lane)))
  until #shares < PAGE
end

-- Who always has direct work stops nobody's bulk work: one claim of BULK_EVERY looks there first.
local lanes = call('INCR', CLAIMS) % BULK_EVERY == 0 and {'bulk', 'direct'} or {'direct', 'bulk'}
return take_next(lanes[1]) or take_next(lanes[2]) or false
