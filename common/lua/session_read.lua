-- session_read: a session, for its owner; reading keeps it alive.
--   KEYS  se:sid so:oh
--   ARGV  T sid oh ttl
--   returns {oh version capabilities client level initialized} or false
-- Its life is renewed at most once a minute (for a short one: when half of it has gone).
define('session_read', WORKS, function(keys, a)
    local h = call('HMGET', keys[1], 'o', 'pv', 'cc', 'ci', 'lv', 'in')
    if h[1] ~= a[3] then
        return false
    end
    local ttl = tonumber(a[4])
    if call('PTTL', keys[1]) < ttl - math.min(60000, ttl / 2) then
        keep_session(keys[2], a[2], now(), a[4])
        call('PEXPIRE', keys[1], a[4])
    end
    return {h[1], h[2] or '', h[3] or '', h[4] or '', h[5] or '', h[6] or ''}
end)
