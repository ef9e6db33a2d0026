-- ARGV: ref, token, keys of the counts of writes that grow if the run is lost (one a line), then entry and lane of each job
-- that is enqueued then.
-- Returns for how many ms the token still holds the ref.
local ref, token = ARGV[1], ARGV[2]
local claim = claim_of(ref, token)
local left = claim and tonumber(call('ZSCORE', LEASES, ref) or 0) - now or 0
if left <= 0 then return 0 end
local job = job_key(string.match(claim, '^%d+|[^|]*|(.*)$'))
if ARGV[3] ~= '' then call('HSET', job, 'writes', ARGV[3]) end
if #ARGV > 3 then call('HSET', job, 'promised', table.concat(ARGV, '\n', 4)) end
return left
