-- running: the tasks that workers hold, the oldest first, for operators.
--   KEYS  ls
--   ARGV  T n
--   returns id tool worker age_ms attempt asks message of each, flat; asks 1: it waits for answers
-- Looks at 1,000 tasks at most, those whose leases lapse first.
define('running', READS, function(keys, a, T)
    local ids, t, found = call('ZRANGE', keys[1], 0, 999), now(), {}
    for i = 1, #ids do
        local h = try('HMGET', T .. 't:' .. ids[i], 's', 'q', 'wk', 'ct', 'tr', 'm')
        if h[1] == 'w' or h[1] == 'i' then
            found[#found + 1] = {ids[i], h[2], h[3] or '', h[4], text((h[5] or 0) + 1),
                h[1] == 'i' and '1' or '0', h[6] or ''}
        end
    end
    table.sort(found, function(x, y)
        return x[4] + 0 < y[4] + 0
    end)
    local out = {}
    for i = 1, math.min(#found, tonumber(a[2])) do
        found[i][4] = text(math.max(0, t - found[i][4]))
        for j = 1, 7 do
            out[#out + 1] = found[i][j]
        end
    end
    return out
end)
