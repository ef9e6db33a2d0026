-- The order of the lanes `direct` and `bulk`: which namespace is next, and which of its entries; in front of all scripts.
-- Namespaces share the time of the workers, as processes share a processor: each has what it has spent, in ms. Who
-- comes back begins CREDIT before those that were served last; resting for longer saves nothing more up. Before whoever has
-- spent as much goes whose next step is nearer to the end of an install: each step on the way counts as STEP_MS spent,
-- all of them as CREDIT, so nobody is passed over for longer than that. In one namespace, a step may be passed over by
-- nearer ones until these have taken INSIDE_MS for each step between them.
local call = call -- why: what was declared last is captured soonest, in each call of each script
local MAX_CHARGE, CREDIT, INSIDE_MS = 1000, 5000, 1000
local STEP_MS = CREDIT / FURTHEST

local function next_key(group, lane) return 'olmf:next:' .. group .. ':' .. lane end
local function line_key(group, lane, namespace) return 'olmf:order:' .. group .. ':' .. lane .. ':' .. namespace end
local function spent_key(lane) return 'olmf:spent:' .. lane end
local function level_key(lane) return 'olmf:level:' .. lane end

-- To whom a run is charged: to the namespace of its ref, a Namespace to itself. Apart from other cluster-scoped objects
-- all Operators are charged together (labels name them, which anybody may write), and the OLMConfig (audits have its ref).
local APART = {Operator = true, OLMConfig = true}
local function payer_of(ref)
  local kind = ref:match('^operators%.coreos%.com/v1/(%w+)//')
  return ref:match('^v1/Namespace//(.*)$') or APART[kind] and kind or namespace_of(ref)
end

-- How many steps of an install come after this one; FURTHEST for a step that belongs to none.
local function distance_of(entry) return DISTANCES[entry:match('^[^|]*')] or FURTHEST end

local function level_of(lane) return tonumber(call('GET', level_key(lane))) or 0 end

-- What a namespace has spent: more than it would begin with, or it is not remembered (`note_level`).
local known = {}
local function spent_of(lane, namespace)
  local key = lane .. namespace
  known[key] = known[key] or tonumber(call('ZSCORE', spent_key(lane), namespace)) or level_of(lane) - CREDIT
  return known[key]
end

-- The place of a namespace among the others; the fraction keeps the order of arrival among equal ones.
local function place_of(spent, entry, order) return math.floor(spent) + distance_of(entry) * STEP_MS + order % 1 end

-- Gives a namespace its place by the first entry of its line, or none if that is empty.
local function put_in_place(group, lane, namespace, spent)
  local entry, order = unpack(call('ZRANGE', line_key(group, lane, namespace), 0, 0, 'WITHSCORES'))
  if not entry then
    call('ZREM', next_key(group, lane), namespace)
  else
    call('ZADD', next_key(group, lane), string.format('%.6f', place_of(spent, entry, tonumber(order))), namespace)
  end
end

-- Where an entry that arrives goes in the line of its namespace: behind what is as near.
local function order_of(entry, seq, spent)
  return string.format('%.6f', math.floor(spent) + distance_of(entry) * INSIDE_MS + seq % 1000000 / 1000000)
end

local function enter_line(entry, group, lane, seq, order, namespace, spent)
  call('ZADD', ready_key(group, lane), seq, entry)
  call('ZADD', line_key(group, lane, namespace), order, entry)
  if call('ZRANK', line_key(group, lane, namespace), entry) == 0 then put_in_place(group, lane, namespace, spent) end
end

-- Takes an entry out of line; returns whether it was ready.
local function leave_line(entry, group, lane, namespace, spent)
  call('ZREM', line_key(group, lane, namespace), entry)
  put_in_place(group, lane, namespace, spent)
  return call('ZREM', ready_key(group, lane), entry) == 1
end

-- The namespace that is next in these groups, but for those that are full: its group and its name.
local function next_of(groups, lane, full)
  local found, first, least
  for _, group in ipairs(groups) do
    local places = call('ZRANGE', next_key(group, lane), 0, #full, 'WITHSCORES')
    for i = 1, #places, 2 do
      local namespace, place = places[i], tonumber(places[i + 1])
      if not full[namespace] then
        if not least or place < least then found, first, least = group, namespace, place end
        break
      end
    end
  end
  return found, first
end

-- Notes how far a lane has come; what a namespace has spent need not be remembered if it would begin no later.
local function note_level(lane, spent)
  if spent <= level_of(lane) then return end
  call('SET', level_key(lane), string.format('%.0f', math.floor(spent)))
  call('ZREMRANGEBYSCORE', spent_key(lane), '-inf', math.floor(spent) - CREDIT)
end

-- What a run that is under way uses of the workers' time: they share that, too, and each run takes longer beside others.
local function share_of(took_ms) return math.max(1, math.floor(took_ms / math.max(1, call('HLEN', CLAIMED)))) end

-- Charges a run to its namespace, however it ended. Nobody is shut out for one slow run: it counts as MAX_CHARGE ms.
local function charge(ref, lane, took_ms)
  if not lane or lane == 'long' then return end -- a build before this one did not note the lane of a run
  local namespace, ms = payer_of(ref), math.min(MAX_CHARGE, share_of(took_ms))
  if not call('ZADD', spent_key(lane), 'XX', 'INCR', ms, namespace) then
    call('ZADD', spent_key(lane), level_of(lane) - CREDIT + ms, namespace)
  end
  known[lane .. namespace] = nil
  for _, group in ipairs(call('SMEMBERS', GROUPS)) do call('ZADD', next_key(group, lane), 'XX', 'INCR', ms, namespace) end
end
