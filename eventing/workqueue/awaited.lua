-- ARGV: ref, lane, groups. Returns whether jobs of these groups and of other namespaces wait in the lane, or in the one
-- before.
local mine = share_of(ARGV[1])
for _, lane in ipairs(ARGV[2] == 'direct' and {'direct'} or {'direct', 'bulk'}) do
  for i = 3, #ARGV do
    if call('ZCARD', ready_key(ARGV[i], lane)) > call('ZCARD', share_key(ARGV[i], lane, mine)) then return 1 end
  end
end
return 0
