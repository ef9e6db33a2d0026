-- ARGV: ref, token, new lease in ms (0: do not renew), then entry and lane of each job to ring if the run is lost.
-- Returns whether the token still holds the ref.
local ref, token, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
local held = call('HGET', HELD, ref)
if not held or string.sub(held, 1, #token + 1) ~= token .. '|' then return 0 end
if tonumber(call('ZSCORE', LEASES, ref) or 0) <= now then return 0 end
if lease > 0 then call('ZADD', LEASES, now + lease, ref) end
if #ARGV > 3 then
  call('HSET', job_key(string.match(held, '^%d+|[^|]*|(.*)$')), 'promised', table.concat(ARGV, '\n', 4))
end
return 1
