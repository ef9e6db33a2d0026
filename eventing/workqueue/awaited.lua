-- ARGV: entry, lane, token, groups. Returns whether in the lane a job of these groups and of another namespace would go
-- before what is left of this run, if it had ended now, or waits in the lane before.
local entry, lane, token = ARGV[1], ARGV[2], tonumber(ARGV[3])
local _, ref = parts(entry)
local mine = payer_of(ref)
local place = place_of(spent_of(lane, mine) + share_of(now - token / 1000), entry, 0)
for i = 4, #ARGV do
  for _, namespace in ipairs(call('ZRANGE', next_key(ARGV[i], lane), 0, 1)) do
    if namespace ~= mine and tonumber(call('ZSCORE', next_key(ARGV[i], lane), namespace)) <= place then return 1 end
  end
  local ready, own = call('ZCARD', ready_key(ARGV[i], 'direct')), call('ZCARD', line_key(ARGV[i], 'direct', mine))
  if lane == 'bulk' and ready > own then return 1 end
end
return 0
