-- Returns how many run, are delayed, are dead and were refused, then each group and how many are ready there.
local counts = {call('HLEN', HELD), call('ZCARD', DELAYED), call('ZCARD', DEAD), tonumber(call('GET', 'olmf:refused')) or 0}
for _, group in ipairs(call('SMEMBERS', GROUPS)) do
  counts[#counts + 1] = group
  counts[#counts + 1] = call('ZCARD', ready_key(group, 'direct')) + call('ZCARD', ready_key(group, 'bulk'))
end
return counts
