-- queue: how much of what there is, for operators.
--   KEYS  ls dl ix dq st
--   ARGV  T tool...
--   returns running delayed parked active tasks dead r e x oldest_ready_ms, d l (dead letters made
--           and leases lapsed so far), the age of the oldest ready task of each class, 0 for none;
--           then tool c0 c1 c2 c3 for each tool, flat
-- parked and active are counted over the owners of the first 10,000 tasks by expiry.
local function count_owners(T, ix)
    local members, seen, parked, active = call('ZRANGE', ix, 0, 9999), {}, 0, 0
    for i = 1, #members do
        local owner = string.sub(members[i], 25)
        if not seen[owner] then
            seen[owner] = true
            local oa = T .. 'oa:' .. owner
            active = active + call('ZCARD', oa)
            parked = parked + call('ZCOUNT', oa, PARKED, '+inf')
        end
    end
    return parked, active
end

-- When the task at the head of a list was created; what has ended is looked past, a little.
local function oldest(T, list)
    local ids = call('LRANGE', list, -8, -1)
    for i = #ids, 1, -1 do
        local h = try('HMGET', T .. 't:' .. ids[i], 's', 'ct')
        if h[1] == 'w' then
            return tonumber(h[2])
        end
    end
end

define('queue', READS, function(keys, a, T)
    local parked, active = count_owners(T, keys[3])
    local st = call('HMGET', keys[5], 'r', 'e', 'x', 'd', 'l')
    local t, lists, ages = now(), {}, {0, 0, 0, 0}
    for i = 2, #a do
        lists[#lists + 1] = a[i]
        for class = 0, 3 do
            local list = T .. 'rq:' .. a[i] .. ':' .. class
            lists[#lists + 1] = text(call('LLEN', list))
            ages[class + 1] = math.max(ages[class + 1], t - (oldest(T, list) or t))
        end
    end
    return {text(call('ZCARD', keys[1])), text(call('ZCARD', keys[2])), text(parked), text(active),
            text(call('ZCARD', keys[3])), text(call('XLEN', keys[4])), st[1] or '0', st[2] or '0',
            st[3] or '0', text(math.max(unpack(ages))), st[4] or '0', st[5] or '0', text(ages[1]),
            text(ages[2]), text(ages[3]), text(ages[4]), unpack(lists)}
end)
