-- ARGV: a worker known to be lost (or ''), then ref, token and new lease in ms of the claim to renew (ref '': none), then
--       how many long runs a namespace may have.
-- Puts due jobs in line and wakes the drainers of groups with ready jobs.
-- Returns the ms until the next delay or lease ends (-1: none); entry, token, attempts of each lost run; and entry and
-- place in line of each job of the long lane that may run now.
local MEND_SECONDS = 10
local lost_worker, running, token, lease, limit = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), 500
if claim_of(running, token) then
  call('ZREM', LEASES, running) -- a full Redis refuses ZADD, but not in a script that has begun to write
  call('ZADD', LEASES, now + lease, running)
end
for _, entry in ipairs(call('ZRANGEBYSCORE', DELAYED, '-inf', now, 'LIMIT', 0, limit)) do
  line_up(entry, call('HGET', job_key(entry), 'due') or now)
end
for _, group in ipairs(call('SMEMBERS', GROUPS)) do
  if call('EXISTS', ready_key(group, 'direct'), ready_key(group, 'bulk')) > 0 then ring(group) end
end

-- Puts into the lines of namespaces what is in none: a build that had no such lines left it, or runs beside this one.
local function mend_lines(lane)
  local groups, ready, lined = call('SMEMBERS', GROUPS), 0, 0
  for _, group in ipairs(groups) do ready = ready + call('ZCARD', ready_key(group, lane)) end
  for _, number in ipairs(call('HVALS', lines_key(lane))) do lined = lined + tonumber(number) end
  for _, group in ipairs(ready == lined and {} or groups) do
    for _, entry in ipairs(call('ZRANGE', ready_key(group, lane), 0, -1)) do
      local _, ref = parts(entry)
      if not call('ZSCORE', share_key(group, lane, share_of(ref)), entry) then
        enter_line(entry, group, ref, lane, call('INCR', SEQUENCE))
      end
    end
  end
end

local found = {}
local function lose(held)
  local token, worker, entry = held:match('^(%d+)|([^|]*)|(.*)$')
  if lost_worker ~= '' and worker ~= lost_worker then return end
  found[#found + 1] = {entry, token, tonumber(call('HGET', job_key(entry), 'attempts')) or 0}
end
if lost_worker ~= '' or call('SET', 'olmf:mended', 1, 'NX', 'EX', MEND_SECONDS) then
  mend_lines('direct')
  mend_lines('bulk')
end
if lost_worker ~= '' then
  for _, held in ipairs(call('HVALS', HELD)) do lose(held) end
else
  for _, ref in ipairs(call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, limit)) do
    lose(call('HGET', HELD, ref))
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
return {nearest, found, next_long(tonumber(ARGV[5]))}
