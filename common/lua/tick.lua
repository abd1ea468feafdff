-- tick: the due work of one partition. Any process may do it, as often as it likes.
--   KEYS  ls dl ix dq st
--   ARGV  T limit seed
--   returns {next_ms, done}: until something is due, at most 1000; how many were handled
-- Lapsed leases are charged, and come back spread over 250 ms (drawn from seed), so that what one
-- worker lost does not fall upon the next in one blow.
local LOST = 'the worker was lost'
local LOST_ERROR = '{"code":-32603,"message":"the worker was lost in every attempt"}'

local function due(key, t, limit)
    return call('ZRANGE', key, '-inf', t, 'BYSCORE', 'LIMIT', 0, limit)
end

-- Delayed tasks that are due go to the head of their queues, the longest due first in line; where
-- that cannot be written they wait on.
local function ready_delayed(T, dl, ids, t)
    call('ZREM', dl, unpack(ids))
    for i = #ids, 1, -1 do
        local h = try('HMGET', T .. 't:' .. ids[i], 's', 'q', 'c', 'xp')
        if h[1] == 'w' and not push(T, 'RPUSH', ids[i], h[2], h[3], h[4]) then
            call('ZADD', dl, t + 1000, ids[i])
        end
    end
end

local function reclaim(b, ls, ids, seed)
    for i = 1, #ids do
        local h = load(b.T .. 't:' .. ids[i], try)
        if h[STATE] and not ENDED[h[STATE]] then
            seed = (seed * 16807 + 11) % 2147483647
            count(b, 'l')
            again(b, ids[i], h, b.t + seed % 251, LOST, LOST_ERROR)
        end
    end
    call('ZREM', ls, unpack(ids))
end

-- What is known of an expired task is the member of ix: its id and its owner.
local function expire(b, keys, members)
    local tasks, ids = {}, {}
    for i = 1, #members do
        ids[i] = string.sub(members[i], 1, 24)
        tasks[i] = b.T .. 't:' .. ids[i]
        leave(b, string.sub(members[i], 25), ids[i])
    end
    call('DEL', unpack(tasks))
    call('ZREM', keys[3], unpack(members))
    call('ZREM', keys[1], unpack(ids))
    call('ZREM', keys[2], unpack(ids))
    for i = 1, #b.owners do
        try('ZREM', b.T .. 'o:' .. b.owners[i], unpack(b.left[b.owners[i]]))
    end
end

-- Milliseconds until the first member is due; 1000 when there is none sooner.
local function until_first(key, t)
    local first = call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
    return first and math.max(0, math.min(1000, first - t)) or 1000
end

define('tick', WORKS, function(keys, a, T)
    local t, limit = now(), math.min(tonumber(a[2]), BATCH)
    local delayed, lapsed, expired =
        due(keys[2], t, limit), due(keys[1], t, limit), due(keys[3], t, limit)
    call('XLEN', keys[4])
    if #delayed > 0 then
        ready_delayed(T, keys[2], delayed, t)
    end
    local b = batch(T, t, {dl = keys[2], dq = keys[4], st = keys[5]})
    if #lapsed > 0 then
        reclaim(b, keys[1], lapsed, tonumber(a[3]) % 2147483647)
    end
    commit(b)
    if #expired > 0 then
        b = batch(T, t, b.keys)
        expire(b, keys, expired)
        commit(b)
    end
    local soonest = math.min(until_first(keys[1], t), until_first(keys[2], t),
        until_first(keys[3], t))
    return {text(soonest), text(#delayed + #lapsed + #expired)}
end)
