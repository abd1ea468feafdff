-- want: these resources of a wrapped server are to be watched from now on, for a while, for an owner.
--   KEYS  wn:server wo:server:oh
--   ARGV  G ttl max uri...
--   returns 'OK', 'LIMIT' when max others are watched already, or three quarters of that and the owner
--           has more than a quarter: then none is added, and those that are watched go on
-- So an owner who watches a lot leaves room for others, and takes what room there is until then.
-- Workers are told when there was a new one.
define('want', GROWS, function(keys, a, G)
    local t, max = now(), tonumber(a[3])
    local since = '(' .. text(t)
    local all, mine = call('ZCOUNT', keys[1], since, '+inf'), call('ZCOUNT', keys[2], since, '+inf')
    local scores, own = call('ZMSCORE', keys[1], unpack(a, 4)), call('ZMSCORE', keys[2], unpack(a, 4))
    local new = 0
    for i = 1, #scores do
        new = new + (tonumber(scores[i] or 0) <= t and 1 or 0)
        mine = mine + (tonumber(own[i] or 0) <= t and 1 or 0)
    end
    local most = mine > max / 4 and max * 3 / 4 or max
    local full = new > 0 and all + new > most
    call('ZREMRANGEBYSCORE', keys[1], '-inf', text(t))
    call('ZREMRANGEBYSCORE', keys[2], '-inf', text(t))
    for i = 4, #a do
        if not full or tonumber(scores[i - 3] or 0) > t then
            call('ZADD', keys[1], text(t + a[2]), a[i])
            call('ZADD', keys[2], text(t + a[2]), a[i])
        end
    end
    call('PEXPIRE', keys[1], a[2])
    call('PEXPIRE', keys[2], a[2])
    if full then
        return 'LIMIT'
    end
    if new > 0 then
        send_all(G, 'W')
    end
    return 'OK'
end)
