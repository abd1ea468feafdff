-- workers: the live workers.
--   KEYS  ws
--   ARGV  G
--   returns wid pool info started seen_ms_ago of each, flat
define('workers', READS, function(keys, _, G)
    local t, wids, out = now(), call('ZRANGE', keys[1], 0, 999), {}
    for i = 1, #wids do
        local h = call('HMGET', G .. 'w:' .. wids[i], 'pool', 'info', 'st', 'at')
        if h[4] then
            local values = {wids[i], h[1], h[2], h[3], text(t - h[4])}
            for j = 1, 5 do
                out[#out + 1] = values[j]
            end
        end
    end
    return out
end)
