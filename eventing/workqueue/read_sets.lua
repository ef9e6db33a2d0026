-- ARGV: entries. Returns what the last run of each read of catalogs; '' where that is unknown. It counts while nothing else
-- is stored of the entry: one that waits, runs, failed or is a dead letter decides anew, perhaps of something else. So does
-- one that an older build ran meanwhile, which leaves nothing of an entry that rests.
local found = {}
for i, entry in ipairs(ARGV) do
  local job = job_key(entry)
  found[i] = call('HLEN', job) == 1 and call('HGET', job, 'read_set') or ''
end
return found
