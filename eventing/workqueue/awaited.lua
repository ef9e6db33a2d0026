-- ARGV: ref, lane, groups. Returns whether jobs of these groups and of other namespaces wait in the lane, or in the one before.
local mine, groups, PAGE = share_of(ARGV[1]), {unpack(ARGV, 3)}, 20
for _, lane in ipairs(ARGV[2] == 'direct' and {'direct'} or {'direct', 'bulk'}) do
  for _, share in ipairs(call('ZRANGE', waiting_key(lane), 0, PAGE)) do
    if share ~= mine and first_of(share, lane, groups) then return 1 end
  end
end
return 0
