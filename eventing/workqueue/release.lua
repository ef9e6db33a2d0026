-- ARGV: cause, then the dead letters to release. Returns how many were released.
local released = 0
for i = 2, #ARGV do
  local entry = ARGV[i]
  if call('ZSCORE', DEAD, entry) then
    unpark(entry)
    call('HDEL', job_key(entry), 'bugs', 'attempts', 'rests')
    note_causes(job_key(entry), {ARGV[1]}, 1, 'causes')
    line_up(entry, now)
    released = released + 1
  end
end
return released
