-- The format of what queue and journal store; in front of all scripts. A build of an older one reads and changes nothing:
-- it waits, as for a Redis that accepts no changes. Raise the number only where such a build would misread what is stored.
local FORMAT, FORMAT_KEY = 1, 'olmf:format'
local stored_format = tonumber(redis.call('GET', FORMAT_KEY) or 0)
if stored_format > FORMAT then
  return redis.error_reply('NEWERFORMAT a newer release of olmf wrote queue and journal (format ' .. stored_format
    .. '; this one knows ' .. FORMAT .. '). Run that release; or to go back, end its programs and empty this Redis '
    .. '(FLUSHDB): what waits is found in the cluster again, only the memory of the past is lost')
end

-- Who adds or claims jobs stores them in its own format from now on; who only looks does not.
local function adopt_format() if stored_format < FORMAT then redis.call('SET', FORMAT_KEY, FORMAT) end end
