-- ARGV: cause, delay in ms, trace context ('': none), then entry and lane of each job.
-- Returns how many were not waiting yet, the groups without a live drainer, and the dead letters that were released.
local cause, delay = ARGV[1], tonumber(ARGV[2])
note_trace(cause, ARGV[3])
local fresh, unserved, released, seen = 0, {}, {}, {}
for i = 4, #ARGV, 2 do
  local entry, lane = ARGV[i], ARGV[i + 1]
  local group, ref = parts(entry)
  for _, letter in ipairs(release(ref, cause)) do released[#released + 1] = letter end
  if add(entry, lane, cause, delay) then fresh = fresh + 1 end
  if not seen[group] then
    seen[group] = true
    if call('ZCOUNT', 'olmf:drainers:' .. group, now, '+inf') == 0 then unserved[#unserved + 1] = group end
  end
end
return {fresh, unserved, released}
