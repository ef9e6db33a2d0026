-- ARGV: worker, lease in ms, long runs that a namespace may have, entry. Returns a claim of that entry, or false when it
-- is not in line, its ref is claimed, or its namespace has all that it may have.
adopt_format()
local worker, lease, budget, entry = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local group, ref = parts(entry)
if not call('ZSCORE', ready_key(group, 'long'), entry) then return false end
if call('SCARD', running_key(namespace_of(ref))) >= long_limit(budget) then return false end
leave_long_line(entry, group, ref)
if call('HEXISTS', CLAIMED, ref) == 1 then
  call('SADD', blocked_key(ref), entry)
  return false
end
return claim_entry(entry, 'long', worker, lease)
