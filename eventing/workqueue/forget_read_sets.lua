-- ARGV: entries. Forgets what their last runs read of catalogs; returns of how many something was known.
local forgotten = 0
for _, entry in ipairs(ARGV) do
  forgotten = forgotten + call('HDEL', job_key(entry), 'read_set')
  call('SREM', READ_SETS, entry)
end
return forgotten
