-- ARGV: cause, then the dead letters to release. Returns those that were released.
local released = {}
for i = 2, #ARGV do
  local entry = ARGV[i]
  if call('ZSCORE', DEAD, entry) then
    unpark(entry)
    call('HDEL', job_key(entry), 'bugs', 'attempts', 'rests')
    note_causes(job_key(entry), {ARGV[1]}, 1, 'causes')
    line_up(entry, now)
    released[#released + 1] = entry
  end
end
return released
