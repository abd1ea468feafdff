-- watch_list: what some sessions watch, and whose they are; for as long as this is asked, it is kept.
--   KEYS  wt:sid..., then se:sid of each
--   ARGV  T ttl sid...
--   returns owner server uri of each, flat; nothing of a session that has ended
define('watch_list', WORKS, function(keys, a, T)
    local out, till = {}, now() + a[2]
    local n = #keys / 2
    for i = 1, n do
        local held = try('HGETALL', keys[i])
        local owner = try('HGET', keys[n + i], 'o')
        for j = 1, #held, 2 do
            if type(owner) == 'string' then
                out[#out + 1], out[#out + 2], out[#out + 3] = owner, held[j + 1], held[j]
            end
            try('ZADD', T .. 'wu:' .. held[j], text(till), a[2 + i])
            call('PEXPIRE', T .. 'wu:' .. held[j], a[2])
        end
        call('PEXPIRE', keys[i], a[2])
    end
    return out
end)
