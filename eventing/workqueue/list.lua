-- ARGV: limit, states to list. Returns rows: entry, state, when (ms: end of lease or delay, parked), worker, then the
-- job's lane, since, attempts, error, causes and progress (in JSON).
local limit = tonumber(ARGV[1])
local rows = {}

local function list(entry, state, when, worker)
  local is_running = state == 'running'
  local lane, since, attempts, error, causes, progress = unpack(call('HMGET', job_key(entry), 'lane', 'since', 'attempts',
    'error', is_running and state or 'causes', is_running and 'progress' or ''))
  rows[#rows + 1] = {entry, state, when or '', worker or '', lane or '', since or '', attempts or 0, error or '', causes or '',
    progress or ''}
end

local function list_scored(key, state)
  local found = call('ZRANGE', key, 0, limit - 1, 'WITHSCORES')
  for i = 1, #found, 2 do list(found[i], state, found[i + 1]) end
end

local function list_running()
  for _, ref in ipairs(call('ZRANGE', LEASES, 0, limit - 1)) do
    local _, worker, entry = call('HGET', CLAIMED, ref):match('^(%d+)|([^|]*)|(.*)$')
    list(entry, 'running', call('ZSCORE', LEASES, ref), worker)
  end
end

local function list_ready()
  for _, group in ipairs(call('SMEMBERS', GROUPS)) do
    for _, lane in ipairs({'direct', 'bulk', 'long'}) do
      for _, entry in ipairs(call('ZRANGE', ready_key(group, lane), 0, limit - 1)) do list(entry, 'ready') end
    end
  end
end

local function list_blocked()
  for _, ref in ipairs(call('ZRANGE', LEASES, 0, limit - 1)) do
    for _, entry in ipairs(call('SMEMBERS', blocked_key(ref))) do list(entry, 'blocked') end
  end
end

local by_state = {
  running = list_running,
  ready = list_ready,
  blocked = list_blocked,
  delayed = function() list_scored(DELAYED, 'delayed') end,
  dead = function() list_scored(DEAD, 'dead') end,
}
for i = 2, #ARGV do by_state[ARGV[i]]() end
return rows
