-- ARGV: ref, lane. Returns whether jobs of other namespaces wait for a worker in the lane, or in one before it.
local mine = share_of(ARGV[1])
for _, lane in ipairs(ARGV[2] == 'direct' and {'direct'} or {'direct', 'bulk'}) do
  local others = call('ZCARD', shares_key(lane))
  if call('ZSCORE', shares_key(lane), mine) then others = others - 1 end
  if others > 0 then return 1 end
end
return 0
