-- ARGV: a worker known to be lost (or ''), how many long runs a namespace may have, the new lease in ms, then ref and
--       token of each claim to renew.
-- Puts due jobs in line and wakes the drainers of groups with ready jobs.
-- Returns the ms until the next delay or lease ends (-1: none); entry, token, attempts of each lost run; and entry and
-- place in line of each job of the long lane that may run now.
local MEND_SECONDS = 10
local lost_worker, budget, lease, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), 500
for i = 4, #ARGV, 2 do
  if claim_of(ARGV[i], ARGV[i + 1]) then
    call('ZREM', LEASES, ARGV[i]) -- a full Redis refuses ZADD, but not in a script that has begun to write
    call('ZADD', LEASES, now + lease, ARGV[i])
  end
end
for _, entry in ipairs(call('ZRANGEBYSCORE', DELAYED, '-inf', now, 'LIMIT', 0, limit)) do
  line_up(entry, call('HGET', job_key(entry), 'due') or now)
end
for _, group in ipairs(call('SMEMBERS', GROUPS)) do
  if call('EXISTS', ready_key(group, 'direct'), ready_key(group, 'bulk')) > 0 then wake_drainer(group) end
end

-- Puts into the lines of namespaces what is in none: a build that had no such lines left it, or runs beside this one.
local function mend_lines(lane, groups)
  local ready, lined = 0, 0
  for _, group in ipairs(groups) do
    ready = ready + call('ZCARD', ready_key(group, lane))
    for _, namespace in ipairs(call('ZRANGE', next_key(group, lane), 0, -1)) do
      lined = lined + call('ZCARD', line_key(group, lane, namespace))
    end
  end
  for _, group in ipairs(ready == lined and {} or groups) do
    for _, entry in ipairs(call('ZRANGE', ready_key(group, lane), 0, -1)) do
      local _, ref = parts(entry)
      local namespace, seq = payer_of(ref), call('INCR', SEQUENCE)
      if not call('ZSCORE', line_key(group, lane, namespace), entry) then
        local spent = spent_of(lane, namespace)
        enter_line(entry, group, lane, seq, order_of(entry, seq, spent), namespace, spent)
      end
    end
  end
end

-- What builds kept that shared the time of the workers and knew no distances; one that runs beside this one makes it again.
local function forget_former_lines(lane, groups)
  local former = 'olmf:lines:' .. lane
  for _, namespace in ipairs(call('HKEYS', former)) do
    for _, group in ipairs(groups) do call('DEL', 'olmf:line:' .. group .. ':' .. lane .. ':' .. namespace) end
  end
  call('DEL', former, 'olmf:waiting:' .. lane, 'olmf:rested:' .. lane, 'olmf:used:' .. lane)
end

local found = {}
local function lose(claim)
  local token, worker, entry = claim:match('^(%d+)|([^|]*)|(.*)$')
  if lost_worker ~= '' and worker ~= lost_worker then return end
  found[#found + 1] = {entry, token, tonumber(call('HGET', job_key(entry), 'attempts')) or 0}
end
if lost_worker ~= '' or call('SET', 'olmf:mended', 1, 'NX', 'EX', MEND_SECONDS) then
  for _, lane in ipairs({'direct', 'bulk'}) do
    forget_former_lines(lane, call('SMEMBERS', GROUPS))
    mend_lines(lane, call('SMEMBERS', GROUPS))
  end
end
if lost_worker ~= '' then
  for _, claim in ipairs(call('HVALS', CLAIMED)) do lose(claim) end
else
  for _, ref in ipairs(call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, limit)) do
    lose(call('HGET', CLAIMED, ref))
  end
end

local nearest = -1
for _, key in ipairs({DELAYED, LEASES}) do
  local head = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  if head[2] then
    local left = math.max(0, tonumber(head[2]) - now)
    if nearest < 0 or left < nearest then nearest = left end
  end
end
return {nearest, found, next_long(budget)}
