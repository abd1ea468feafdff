-- watch_add: a session is to be told when a resource changes.
--   KEYS  wt:sid wu:uri se:sid
--   ARGV  T sid oh uri server max ttl
--   returns 'OK', 'LIMIT' when it watches max others already; false when the session is not that
--           owner's
define('watch_add', GROWS, function(keys, a)
    local known, count = call('HGET', keys[1], a[4]), call('HLEN', keys[1])
    call('ZCARD', keys[2])
    if call('HGET', keys[3], 'o') ~= a[3] then
        return false
    elseif not known and count >= tonumber(a[6]) then
        return 'LIMIT'
    end
    call('HSET', keys[1], a[4], a[5])
    call('PEXPIRE', keys[1], a[7])
    call('ZREMRANGEBYSCORE', keys[2], '-inf', text(now()))
    call('ZADD', keys[2], text(now() + a[7]), a[2])
    call('PEXPIRE', keys[2], a[7])
    return 'OK'
end)
