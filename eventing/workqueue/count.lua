-- Returns how many run, are delayed, are dead, were refused and wait in the long lane, then each group and how many are
-- ready there in the other lanes.
local counts = {call('HLEN', CLAIMED), call('ZCARD', DELAYED), call('ZCARD', DEAD), tonumber(call('GET', 'olmf:refused')) or 0, 0}
for _, group in ipairs(call('SMEMBERS', GROUPS)) do
  counts[5] = counts[5] + call('ZCARD', ready_key(group, 'long'))
  counts[#counts + 1] = group
  counts[#counts + 1] = call('ZCARD', ready_key(group, 'direct')) + call('ZCARD', ready_key(group, 'bulk'))
end
return counts
