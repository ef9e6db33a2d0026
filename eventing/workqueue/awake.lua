-- ARGV: for how many ms from now (0: no longer), groups. A drainer says that it is awake.
for i = 2, #ARGV do
  if ARGV[1] == '0' then call('ZREM', AWAKE, ARGV[i]) else call('ZADD', AWAKE, now + ARGV[1], ARGV[i]) end
end
