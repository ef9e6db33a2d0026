-- ARGV: cause, delay in ms, trace context ('': none), how many may wait (0: any number), then entry and lane of each job.
-- Returns how many were not waiting yet; -1, and nothing is added, when one of them has no room.
adopt_format()
local cause, delay, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[4])
local IN_ALL = 20 -- so many times as many of all namespaces together

-- Whether an entry may come to those that wait: of its namespace, in its group, and delayed. One that is there has its room.
local function has_room(entry, lane)
  if call('EXISTS', job_key(entry)) == 1 then return true end
  local group, ref = parts(entry)
  local line = lane == 'long' and long_key(namespace_of(ref)) or line_key(group, lane, payer_of(ref))
  return call('ZCARD', line) < most
    and math.max(call('ZCARD', ready_key(group, lane)), call('ZCARD', DELAYED)) < most * IN_ALL
end
for i = 5, most > 0 and #ARGV or 0, 2 do
  if not has_room(ARGV[i], ARGV[i + 1]) then return -1 end
end

note_trace(cause, ARGV[3])
local fresh = 0
for i = 5, #ARGV, 2 do
  local entry, lane = ARGV[i], ARGV[i + 1]
  local _, ref = parts(entry)
  release(ref, cause)
  if add(entry, lane, cause, delay) then fresh = fresh + 1 end
end
return fresh
