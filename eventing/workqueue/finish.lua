-- ARGV: entry, token, only once the lease is over (1 or 0), failure, message, delay in ms (-1: none), bugs that park,
--       journal key ('': keep none), journal length, record, run id, own events (one a line), how it ended, microseconds,
--       trace context ('': none), writes that were answered with warnings, whether the next run is to be alone (1 or 0),
--       bucket of the histogram of durations ('': in none), id of a trace as its exemplar ('': none),
--       keys of the counts of its writes (one a line), what it read of catalogs ('': unknown), then entry and lane of each
--       job to add.
-- Returns whether the run was ended; it was not when its lease is lost.
local entry, token, only_expired, failure, message = unpack(ARGV, 1, 5)
local delay, max_bugs = tonumber(ARGV[6]), tonumber(ARGV[7])
local journal, journal_length, record, run_id, wrote, ended, took, trace = unpack(ARGV, 8, 15)
local warned, is_alone_next, bucket, exemplar = tonumber(ARGV[16]), ARGV[17] == '1', ARGV[18], ARGV[19]
local READ_SET, FIRST_JOB = 21, 22
local job, _, ref = job_key(entry), parts(entry)
local own = run_id .. '\n' .. wrote

local claim = claim_of(ref, token)
if not claim then return false end
if only_expired == '1' and tonumber(call('ZSCORE', LEASES, ref) or 0) > now then return false end
if record ~= '' and journal ~= '' then call('XADD', journal, 'MAXLEN', '~', journal_length, '*', 'run', record) end

-- Whether an event that is not an own one came while the step ran, and whether that event has a delay: if not, it runs once
-- more, at once.
local function enqueued_from_outside()
  local seq, due, causes, count = unpack(call('HMGET', job, 'seq', 'due', 'causes', 'causes_count'))
  local names, is_outside = lines(causes), false
  for _, cause in ipairs(names) do is_outside = is_outside or not has_line(own, cause) end
  is_outside = is_outside or #names < tonumber(count or 0)
  return is_outside and seq, is_outside and due
end

local step = string.match(entry, '^[^|]*')
local lasted_ms = run_id == '' and now - token / 1000 or took / 1000 -- it may have been lost

local function tally(result, microseconds, count)
  local run = step .. '|' .. result
  call('HINCRBY', 'olmf:ran', run, count or 1)
  call('HINCRBY', 'olmf:took', run, microseconds)
end

-- Keeps the newest durations of a step whose quantiles are reported.
local function observe()
  if not OBSERVED[step] then return end
  local recent = recent_key(step .. '|' .. ended)
  call('LPUSH', recent, string.format('%.0f %.0f', now, lasted_ms * 1000))
  call('LTRIM', recent, 0, MOST_RECENT - 1)
  call('EXPIRE', recent, RECENT_SECONDS)
end

-- Returns whether the entry is to be parked, and whether it has been parked, or should have been, since its last success.
local function count_failure()
  if failure == 'interrupted' then return false, false end -- with its worker
  call('HDEL', job, 'ended')
  if failure == '' then
    call('HDEL', job, 'attempts', 'bugs', 'error')
    return false, false
  end
  call('HINCRBY', job, 'attempts', 1)
  call('HSET', job, 'error', message)
  if failure == 'retry' then
    call('HDEL', job, 'bugs')
    return false, false
  end
  if failure == 'canceled' then return true, true end
  if failure == 'limit' then call('HSET', job, 'ended', message) end
  local bugs = call('HINCRBY', job, 'bugs', 1)
  if bugs >= max_bugs then call('HSET', job, 'rests', string.format('%.0f', now + delay)) end
  return bugs % max_bugs == 0, bugs >= max_bugs
end

local function park()
  tally('parked', 0)
  forget_delay(entry)
  call('HSET', job, 'parked', 1)
  call('ZADD', DEAD, now, entry)
  call('SADD', parked_key(ref), entry)
  show_dead_letter(entry, message, now)
end

-- The jobs and writes of this run belong to its trace.
if wrote ~= '' or delay >= 0 or #ARGV >= FIRST_JOB then
  for _, cause in ipairs(lines(own)) do note_trace(cause, trace) end
end

local function enqueue_all(jobs, first, cause)
  for i = first, #jobs, 2 do
    local _, target = parts(jobs[i])
    release(target, cause)
    add(jobs[i], jobs[i + 1], cause, 0)
  end
end

local running, running_count, running_lane, promised, writes =
  unpack(call('HMGET', job, 'running', 'running_count', 'running_lane', 'promised', 'writes'))
call('HDEL', job, 'running', 'running_count', 'running_lane', 'promised', 'writes', 'progress')

-- Before the jobs that it enqueues can run: whoever remembers what these kinds were like reads again. Its worker knows its own
-- writes, but for those of a run that was lost.
for _, key in ipairs(lines(run_id == '' and writes or ARGV[20])) do
  count_write(key, run_id ~= '' and claim:match('^%d+|([^|]*)|'))
end
enqueue_all(ARGV, FIRST_JOB, run_id)

if run_id == '' then -- it may have written: what it promised is enqueued by what caused it
  enqueue_all(lines(promised), 1, lines(running)[1] or 'lost')
end

if is_alone_next then call('HSET', job, 'alone', 1)
elseif failure ~= 'interrupted' then call('HDEL', job, 'alone') end -- that was no run of its own

local is_enqueued, is_due = enqueued_from_outside()
local attempts_exhausted, must_back_off = count_failure()
tally(ended, took)
if bucket ~= '' then
  local place = step .. '|' .. ended .. '|' .. bucket
  call('HINCRBY', 'olmf:within', place, 1)
  if exemplar ~= '' then call('HSET', 'olmf:exemplars', place, exemplar .. '|' .. took .. '|' .. now) end
end
observe()
if warned > 0 then tally('warned', 0, warned) end
charge(ref, running_lane, lasted_ms)
if record == '' then -- nothing tells of this run: the next one inherits its causes
  note_causes(job, lines(running), running_count or 0, 'causes')
end

if must_back_off then forget_delay(entry) end -- of an event that came while it ran
if is_enqueued then
  if must_back_off then -- it is not parked, but its back-off stays
    call('SREM', blocked_key(ref), entry)
    call('HDEL', job, 'seq', 'since', 'order')
    delay_until(entry, now + delay)
  end
elseif delay == 0 and not attempts_exhausted then
  note_causes(job, {run_id}, 1, 'causes')
  line_up(entry, now)
elseif attempts_exhausted or delay > 0 then
  call('SREM', blocked_key(ref), entry)
  call('HDEL', job, 'seq', 'since', 'order')
  call('HSET', job, 'wrote', own)
  if run_id ~= '' then note_causes(job, {run_id}, 1, 'causes') end
  if attempts_exhausted and not is_due then park() else delay_until(entry, now + delay) end
end

call('HDEL', CLAIMED, ref)
call('ZREM', LEASES, ref)
call('SREM', running_key(namespace_of(ref)), ref)
for _, waiting in ipairs(call('SMEMBERS', blocked_key(ref))) do line_up(waiting, now) end
call('DEL', blocked_key(ref))
local seq, due, parked, known = unpack(call('HMGET', job, 'seq', 'due', 'parked', 'read_set'))
if not (seq or due or parked) then
  call('DEL', job)
  if ARGV[READ_SET] ~= '' and failure == '' then
    call('HSET', job, 'read_set', ARGV[READ_SET])
    call('SADD', READ_SETS, entry)
  elseif known then call('SREM', READ_SETS, entry) end
end
return true
