-- ARGV: ref, token, id of the RQ job, progress in JSON. Notes how far a run is, if the token holds the ref; returns whether.
local ref, token, rq_job, progress = ARGV[1], ARGV[2], 'rq:job:' .. ARGV[3], ARGV[4]
local claim = claim_of(ref, token)
if not claim then return 0 end
call('HSET', job_key(string.match(claim, '^%d+|[^|]*|(.*)$')), 'progress', progress)
if call('HEXISTS', rq_job, 'created_at') == 1 then
  call('HSET', rq_job, 'meta', '{"version": 1, "value": ' .. progress .. '}')
end
return 1
