-- stream_keep: a process renews the streams it holds.
--   KEYS  sm:st..., then sx:st of each
--   ARGV  T bid ttl st...
--   returns the ids of those that are gone, or another's
define('stream_keep', WORKS, function(keys, a, T)
    local n, lost = #keys / 2, {}
    for i = 1, n do
        local r = try('HMGET', keys[i], 'b', 't')
        if r[1] ~= a[2] then
            lost[#lost + 1] = a[3 + i]
        else
            local ttl = life(T, r[2], a[3])
            call('PEXPIRE', keys[i], ttl)
            call('PEXPIRE', keys[n + i], ttl)
        end
    end
    return lost
end)
