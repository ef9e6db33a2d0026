-- Returns each group with jobs that could run now, or run, whether a drainer of it is awake, and for how many ms the job
-- waits that came first (0: none waits). The long lane is a group of its own here.
local waits, found = {}, {}
local function note(group, ms) waits[group] = math.max(waits[group] or 0, ms) end
for _, group in ipairs(call('SMEMBERS', GROUPS)) do
  for _, lane in ipairs({'direct', 'bulk', 'long'}) do
    local first = call('ZRANGE', ready_key(group, lane), 0, 0)[1]
    if first then
      note(lane == 'long' and lane or group, math.max(0, now - (tonumber(call('HGET', job_key(first), 'since')) or now)))
    end
  end
end
for _, claim in ipairs(call('HVALS', CLAIMED)) do
  local entry = claim:match('^%d+|[^|]*|(.*)$')
  note(call('HGET', job_key(entry), 'running_lane') == 'long' and 'long' or (parts(entry)), 0)
end
for group, ms in pairs(waits) do found[#found + 1] = {group, is_awake(group) and 1 or 0, ms} end
return found
