-- ARGV: ref, token, then entry and lane of each job to enqueue if the run is lost.
-- Returns whether the token still holds the ref.
local ref, token = ARGV[1], ARGV[2]
local claim = claim_of(ref, token)
if not claim or tonumber(call('ZSCORE', LEASES, ref) or 0) <= now then return 0 end
if #ARGV > 2 then
  call('HSET', job_key(string.match(claim, '^%d+|[^|]*|(.*)$')), 'promised', table.concat(ARGV, '\n', 3))
end
return 1
