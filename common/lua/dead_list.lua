-- dead_list: the oldest dead letters of a partition.
--   KEYS  dq
--   ARGV  T count
--   returns entry id tool attempts at_ms why expired of each, flat

define('dead_list', READS, function(keys, a, T)
    local entries, out = call('XRANGE', keys[1], '-', '+', 'COUNT', math.min(a[2], 1000)), {}
    for i = 1, #entries do
        local l, at = letter(entries[i]), string.match(entries[i][1], '^%d+')
        local expired = call('EXISTS', T .. 't:' .. (l.i or '')) == 0 and '1' or '0'
        local values = {entries[i][1], l.i or '', l.q or '', l.n or '', at, l.e or '', expired}
        for j = 1, 7 do
            out[#out + 1] = values[j]
        end
    end
    return out
end)
