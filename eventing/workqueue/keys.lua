-- The keys of the queue, which __init__.py describes, and what is read from their names; in front of all scripts.
-- Stored names never change: some are older than the terms that are used here.
local CLAIMED, LEASES, DELAYED, DEAD = 'olmf:held', 'olmf:leases', 'olmf:delayed', 'olmf:dead'
local TOKEN, SEQUENCE, GROUPS, SWEEPER_WAKEUP = 'olmf:token', 'olmf:sequence', 'olmf:groups', 'olmf:alarm'
local WAKEUP, WAKER, AWAKE = 'olmf:bell:', 'olmf:waker', 'olmf:awake'
local LONG_NAMESPACES, LONG_WORKERS = 'olmf:turns', 'rq:workers:olmf-long'
local CLAIMS, READS, CHANGES, READ_SETS = 'olmf:claims', 'olmf:reads:', 'olmf:changes:', 'olmf:read-sets'
local MAX_CAUSES, TRACE_SECONDS, BULK_EVERY = 32, 300, 8
local CHANGES_SECONDS, MAX_WRITERS, MAX_REPORTED = 86400, 50, 32

local call = redis.call
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function job_key(entry) return 'olmf:job:' .. entry end
local function blocked_key(ref) return 'olmf:blocked:' .. ref end
local function parked_key(ref) return 'olmf:parked:' .. ref end
local function trace_key(cause) return 'olmf:trace:' .. cause end
local function note_trace(cause, trace) if trace ~= '' then call('SET', trace_key(cause), trace, 'EX', TRACE_SECONDS) end end
local function recent_key(run) return 'olmf:recent:' .. run end
local function ready_key(group, lane) return 'olmf:ready:' .. group .. ':' .. lane end

local function long_key(namespace) return 'olmf:long:' .. namespace end
local function running_key(namespace) return 'olmf:long-running:' .. namespace end

-- '<apiVersion>/<kind>/<namespace>/<name>' -> namespace
local function namespace_of(ref) return ref:match('([^/]*)/[^/]*$') end

-- '<group>/<step>|<ref>' -> group, ref
local function parts(entry) return entry:match('^([^/|]*)[^|]*|(.*)$') end

local function lines(text)
  local found = {}
  for line in string.gmatch(text or '', '[^\n]+') do found[#found + 1] = line end
  return found
end

local function has_line(text, line) return text and string.find('\n' .. text .. '\n', '\n' .. line .. '\n', 1, true) end

-- The claim of a ref, only if this token holds it.
local function claim_of(ref, token)
  local claim = call('HGET', CLAIMED, ref)
  return claim and string.sub(claim, 1, #token + 1) == token .. '|' and claim
end

-- Counts a write in a hash of journal/changes.py, and by whom. Writers come and go: where there are many, all of them are
-- forgotten, and read once more than they need.
local function count_write(key, worker)
  call('HINCRBY', key, 'writes', 1)
  if worker and call('HINCRBY', key, 'writes:' .. worker, 1) == 1 and call('HLEN', key) > MAX_WRITERS then
    for _, field in ipairs(call('HKEYS', key)) do
      if string.sub(field, 1, 7) == 'writes:' then call('HDEL', key, field) end
    end
  end
  call('EXPIRE', key, CHANGES_SECONDS)
end
