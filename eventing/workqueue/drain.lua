-- ARGV: drainer, ms it may take (0: retire from empty groups, -1: from any), groups.
-- Returns 0 when jobs are ready, so that the drainer must not retire.
local drainer, lasts = ARGV[1], tonumber(ARGV[2])
if lasts == 0 then
  for i = 3, #ARGV do
    if call('EXISTS', ready_key(ARGV[i], 'direct'), ready_key(ARGV[i], 'bulk')) > 0 then return 0 end
  end
end
for i = 3, #ARGV do
  local key = 'olmf:drainers:' .. ARGV[i]
  call('ZREMRANGEBYSCORE', key, '-inf', now)
  if lasts > 0 then call('ZADD', key, now + lasts, drainer) else call('ZREM', key, drainer) end
end
return 1
