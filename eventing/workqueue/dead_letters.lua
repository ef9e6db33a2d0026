-- Dead letters as RQ shows them: failed jobs whose act is to release the letter; prepended to each script. The scripts that
-- park and release an entry write and remove its failed job, so the two lists never differ.
local FAILED = 'rq:failed:olmf'

-- RQ accepts only letters, digits, - and _ in ids.
local function dead_letter_id(entry) return 'dead-' .. redis.sha1hex(entry) end

-- Milliseconds since 1970 as RQ writes a time. Years begin in March here, so that a leap day ends one.
local function rq_time(ms)
  local seconds = math.floor(ms / 1000)
  local days, rest = math.floor(seconds / 86400) + 719468, seconds % 86400
  local era = math.floor(days / 146097)
  local day = days - era * 146097
  local year = math.floor((day - math.floor(day / 1460) + math.floor(day / 36524) - math.floor(day / 146096)) / 365)
  day = day - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * day + 2) / 153)
  local date = day - math.floor((153 * month + 2) / 5) + 1
  local late = month > 9
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03d000Z', era * 400 + year + (late and 1 or 0),
    late and month - 9 or month + 3, date, math.floor(rest / 3600), math.floor(rest % 3600 / 60), rest % 60, ms % 1000)
end

-- Lists a dead letter among the failed jobs; `rq requeue` releases it.
local function show_dead_letter(entry, message, ms)
  local step, ref = entry:match('^([^|]*)|(.*)$')
  local arguments = '{"step": ' .. cjson.encode(step) .. ', "ref": ' .. cjson.encode(ref) .. '}'
  local parked, id = rq_time(ms), dead_letter_id(entry)
  redis.call('HSET', 'rq:job:' .. id, 'data', '{"version": 1, "value": ["retry", null, [], ' .. arguments .. ']}',
    'description', step .. ' ' .. ref, 'exc_info', message, 'created_at', parked, 'ended_at', parked,
    'origin', 'olmf', 'status', 'failed', 'failure_ttl', -1, 'result_ttl', 0)
  redis.call('ZADD', FAILED, -1, id)
end

local function hide_dead_letter(entry)
  redis.call('ZREM', FAILED, dead_letter_id(entry))
  redis.call('DEL', 'rq:job:' .. dead_letter_id(entry))
end
