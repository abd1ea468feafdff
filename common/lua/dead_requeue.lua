-- dead_requeue: runs a dead letter's task again, as a new task; a terminal state never changes.
--   KEYS  dq sq ix t:new_id
--   ARGV  T entry new_id
--   returns {'OK', id}; {'EXPIRED'} when the old task is gone; false when the letter is
-- The new one has the owner, tool, params, ttl, class, limits and caller of the old, no session,
-- and is listed, since nobody waits for it. Sent again after a lost reply it answers OK.
local KEPT = {'o', 'dia', 'q', 'c', 'mx', 'pi', 'L', 'tp', 'cl', 'cc', 'ak', 'p', 'ct', 'xp'}

-- Writes the new record with the fields `old` of the dead one.
local function revive(key, old, t, seq)
    local xp = text(t + old[14] - old[13])
    local set = {'s', 'w', 'ct', text(t), 'xp', xp, 'sq', seq}
    for i = 1, 12 do
        put(set, KEPT[i], old[i])
    end
    call('HSET', key, unpack(set))
    call('PEXPIREAT', key, xp)
    return xp
end

define('dead_requeue', GROWS, function(keys, a, T)
    local key, id = T .. 't:' .. a[3], a[3]
    local entry = call('XRANGE', keys[1], a[2], a[2])[1]
    if call('EXISTS', key) == 1 then
        return {'OK', id}
    elseif not entry then
        return false
    end
    local old = call('HMGET', T .. 't:' .. (letter(entry).i or ''), unpack(KEPT))
    if not old[12] then
        return {'EXPIRED'}
    end
    local oa, index, t = T .. 'oa:' .. old[1], T .. 'o:' .. old[1], now()
    local active = call('ZCARD', oa)
    call('ZCARD', index)
    call('ZCARD', keys[3])
    call('LLEN', T .. 'rq:' .. old[3] .. ':' .. old[4])
    local seq = text(call('INCR', keys[2]))
    local xp = revive(key, old, t, seq)
    call('ZADD', index, seq, id)
    call('ZADD', keys[3], xp, id .. old[1])
    enqueue(T, oa, {id = id, tool = old[3], class = old[4], limit = tonumber(old[7] or 0),
                    xp = xp, seq = seq}, active)
    call('XDEL', keys[1], a[2])
    return {'OK', id}
end)
