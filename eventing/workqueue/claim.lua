-- ARGV: worker, lease in ms, how many runs of one namespace this worker may have (0: any number), groups.
-- Returns a claim of the direct or bulk lane, or false when nothing can run.
adopt_format()
local worker, lease, most, groups = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), {unpack(ARGV, 4)}

-- The namespaces of which this worker has as many runs as it may, and how many it has of each.
local full, has = {}, {}
local function note_run(ref)
  local namespace = payer_of(ref)
  has[namespace] = (has[namespace] or 0) + 1
  if has[namespace] == most then full[#full + 1], full[namespace] = namespace, true end
end
for _, claim in ipairs(most > 0 and call('HVALS', CLAIMED) or {}) do
  local owner, entry = claim:match('^%d+|([^|]*)|(.*)$')
  if owner == worker then note_run(select(2, parts(entry))) end
end

-- Whether the group has more that a worker like this one would get now.
local function has_more(group)
  return next_of({group}, 'direct', full) or next_of({group}, 'bulk', full)
end

-- Takes the first entry of the next namespace whose ref is free; those whose ref is claimed wait for that. What an older build
-- has claimed is still in a line, and in nothing else.
local function claim_next(lane)
  local group, namespace = next_of(groups, lane, full)
  while group do
    local entry = call('ZRANGE', line_key(group, lane, namespace), 0, 0)[1]
    local _, ref = parts(entry)
    local spent = spent_of(lane, namespace)
    note_level(lane, spent)
    local is_ready = leave_line(entry, group, lane, namespace, spent)
    if is_ready and call('HEXISTS', CLAIMED, ref) == 0 then
      local claim = claim_entry(entry, lane, worker, lease)
      note_run(ref)
      if has_more(group) then wake_drainer(group) end -- wakes the next drainer, which wakes the next
      return claim
    end
    if is_ready then call('SADD', blocked_key(ref), entry) end
    group, namespace = next_of(groups, lane, full)
  end
end

-- Who always has direct work stops nobody's bulk work: one claim of BULK_EVERY looks there first.
local lanes = call('INCR', CLAIMS) % BULK_EVERY == 0 and {'bulk', 'direct'} or {'direct', 'bulk'}
return claim_next(lanes[1]) or claim_next(lanes[2]) or false
