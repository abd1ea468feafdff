-- session_create: a session of the handshake dialect; it counts against its owner's rate.
--   KEYS  se:sid so:oh rl:oh
--   ARGV  T sid oh version capabilities client ttl rate max
--   returns {'OK'} or {'RATE', ms}
-- Of an owner that has max sessions, those that have been idle for longest end for the new one:
-- most clients never end theirs, and one that comes back begins another.

-- Ends what is too much of the sessions in key, each with a share of a later call if it is many.
local function evict(key, T, max)
    local many = call('ZCARD', key) - max + 1
    if many <= 0 then
        return
    end
    local idle = call('ZRANGE', key, 0, math.min(many, BATCH) - 1)
    for i = 1, #idle do
        drop_session(T, key, idle[i])
    end
end

define('session_create', GROWS, function(keys, a, T)
    local us = now_us()
    local t = ms_of(us)
    call('HLEN', keys[1])
    call('ZCARD', keys[2])
    local over = over_rate(keys[3], a[8], us)
    if over then
        return over
    end
    call('ZREMRANGEBYSCORE', keys[2], '-inf', t)
    evict(keys[2], T, tonumber(a[9]))
    call('HSET', keys[1], 'o', a[3], 'pv', a[4], 'cc', a[5], 'ci', a[6], 'ct', text(t))
    call('PEXPIRE', keys[1], a[7])
    keep_session(keys[2], a[2], t, a[7])
    return {'OK'}
end)
