-- stream_drop: its client left, or it has ended; for a while another process may go on with it. What
-- a session is told goes to another GET stream of it meanwhile, if one is held.
--   KEYS  sm:st sx:st
--   ARGV  T st bid ttl
--   returns 1, or 0 when the process does not hold it (any more)
define('stream_drop', WORKS, function(keys, a, T)
    local r = call('HMGET', keys[1], 'b', 't', 'k', 'ss')
    if r[1] ~= a[3] then
        return 0
    end
    local ttl = life(T, r[2], a[4])
    call('HSET', keys[1], 'b', '')
    call('PEXPIRE', keys[1], ttl)
    call('PEXPIRE', keys[2], ttl)
    if r[3] == 'g' then
        let_lead(T, T .. 'se:' .. (r[4] or ''), a[2])
    end
    return 1
end)
