-- ARGV: worker, lease in ms, how many runs of one namespace this worker may have (0: any number), how many claims, groups.
-- Returns at most so many claims of the direct or bulk lane.
adopt_format()
local worker, lease, most, count = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local groups = {unpack(ARGV, 5)}

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

-- The first entry of a line, and its group; or of another line of the namespace, if it waits for that one: not for ever, but as
-- for one that is nearer to the end.
local serves = {}
for _, group in ipairs(groups) do serves[group] = true end
local function first_of(group, lane, namespace)
  local entry, order = unpack(call('ZRANGE', line_key(group, lane, namespace), 0, 0, 'WITHSCORES'))
  for _, step in ipairs(WAITS_FOR[entry:match('^[^|]*')] or {}) do
    local other = step:match('^[^/]*')
    local line = serves[other] and call('ZRANGE', line_key(other, lane, namespace), 0, 0, 'WITHSCORES') or {}
    if line[1] and line[1]:match('^[^|]*') == step and line[2] - order <= FURTHEST * INSIDE_MS then return line[1], other end
  end
  return entry, group
end

-- Takes the first entry of the next namespace whose ref is free; those whose ref is claimed wait for that. What an older build
-- has claimed is still in a line, and in nothing else.
local function claim_next(lane)
  local group, namespace = next_of(groups, lane, full)
  while group do
    local entry
    entry, group = first_of(group, lane, namespace)
    local _, ref = parts(entry)
    local spent = spent_of(lane, namespace)
    note_level(lane, spent)
    local is_ready = leave_line(entry, group, lane, namespace, spent)
    if is_ready and call('HEXISTS', CLAIMED, ref) == 0 then
      local claim = claim_entry(entry, lane, worker, lease)
      note_run(ref)
      return claim, group
    end
    if is_ready then call('SADD', blocked_key(ref), entry) end
    group, namespace = next_of(groups, lane, full)
  end
end

-- Who always has direct work stops nobody's bulk work: one claim of BULK_EVERY looks there first.
local function claim_one()
  local lanes = call('INCR', CLAIMS) % BULK_EVERY == 0 and {'bulk', 'direct'} or {'direct', 'bulk'}
  local claim, group = claim_next(lanes[1])
  if claim then return claim, group end
  return claim_next(lanes[2])
end

local claims, served = {}, {}
while #claims < count do
  local claim, group = claim_one()
  if not claim then break end
  claims[#claims + 1], served[group] = claim, true
  if claim[11] == 1 then break end -- it is to be alone: those behind it may run elsewhere
end
for _, group in ipairs(groups) do
  if served[group] and has_more(group) then wake_drainer(group) end -- wakes the next drainer, which wakes the next
end
return claims
