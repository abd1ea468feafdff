-- The sessions of an owner are listed in so:oh, by the time in ms at which each ends when nobody
-- uses it: the first have been idle for longest. Those that have expired leave with the next new one.

-- Lists a session that now lives for ttl ms.
local function keep_session(key, sid, t, ttl)
    call('ZADD', key, text(t + ttl), sid)
    call('PEXPIRE', key, ttl)
end

-- Ends a session for every broker at once; its tasks live on, what it watched does not.
local function drop_session(T, key, sid)
    call('ZREM', key, sid)
    call('DEL', T .. 'se:' .. sid, T .. 'wt:' .. sid)
    send_all(T, 'E ' .. sid)
end
