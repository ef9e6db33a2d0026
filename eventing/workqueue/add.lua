-- ARGV: cause, delay in ms, trace context ('': none), then entry and lane of each job.
-- Returns how many were not waiting yet.
adopt_format()
local cause, delay = ARGV[1], tonumber(ARGV[2])
note_trace(cause, ARGV[3])
local fresh = 0
for i = 4, #ARGV, 2 do
  local entry, lane = ARGV[i], ARGV[i + 1]
  local _, ref = parts(entry)
  release(ref, cause)
  if add(entry, lane, cause, delay) then fresh = fresh + 1 end
end
return fresh
