-- tools: every tool that was seen within the grace period, or that a live worker serves, by name.
--   KEYS  tools seen
--   ARGV  G grace_ms [known]
--   returns mark, then name seen_ms_ago conflict policy definition of each, flat; {mark} alone when
--           that is known
-- The mark is a digest of all but when each was seen: brokers read once a second what seldom changes.
-- Workers announce every few seconds, and live on for ALIVE after the last time: a shorter grace is
-- for the time after that, or after they have left.
define('tools', READS, function(keys, a, G)
    local t, names, at, marks, out = now(), {}, {}, {}, {''}
    local seen = call('ZRANGE', keys[2], t - math.max(a[2], ALIVE), '+inf', 'BYSCORE', 'WITHSCORES')
    for i = 1, #seen, 2 do
        at[seen[i]] = seen[i + 1]
        if string.sub(seen[i], 1, 1) ~= ' ' then
            names[#names + 1] = seen[i]
        end
    end
    table.sort(names)
    for i = 1, #names do
        local name, noticed = names[i], at[' ' .. names[i]]
        local e = entry(call('HGET', keys[1], name))
        if e and (t - at[name] <= tonumber(a[2]) or call('EXISTS', G .. 'w:' .. e.wid) == 1) then
            local conflict = noticed and t - noticed < ALIVE and '1' or '0'
            local values = {name, text(t - at[name]), conflict, string.sub(e.rest, 1, e.length),
                string.sub(e.rest, e.length + 1)}
            marks[#marks + 1] = name .. ' ' .. e.digest .. ' ' .. conflict
            for j = 1, 5 do
                out[#out + 1] = values[j]
            end
        end
    end
    out[1] = redis.sha1hex(table.concat(marks, '\n'))
    return out[1] == a[3] and {out[1]} or out
end)
