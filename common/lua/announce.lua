-- announce: a worker says that it lives, and what it serves.
--   KEYS  tools seen tv ws w:wid, then wn:server of each name that is '@' and a server
--   ARGV  G wid pool info started (name digest policy definition)...
--   returns {names of which two live workers announce different definitions,
--            server uri of what is to be watched, flat: for the servers listed as this worker's}
-- Listed is the definition of the worker that started last, while that worker lives. Readers are
-- told when a name is new or back after 10 s, or when its definition changed; and when a worker
-- has stopped to announce a name, lives on, and no other live worker serves it: it is listed no
-- more. In `seen` a name after a blank says when a conflict over it was last noticed.
local BACK = 10000
local ALIVE = 15000

-- Of two announcements, does the new one (of `wid`, started then) take the place of e?
local function wins(G, e, wid, started)
    if e.wid == wid or call('EXISTS', G .. 'w:' .. e.wid) == 0 then
        return true, false
    end
    local later = started - e.started
    return later > 0 or (later == 0 and wid > e.wid), true
end

-- One tool of the announcement. Sets its entry if it is the one to list; returns whether the list
-- changed by it, whether a live worker says otherwise, and whether the one listed is this one's.
local function list_tool(keys, G, a, i)
    local name, digest = a[i], a[i + 1]
    local e = entry(call('HGET', keys[1], name))
    local first, rival = true, false
    if e then
        first, rival = wins(G, e, a[2], a[5])
    end
    local same = e and e.digest == digest
    if first and not (same and e.wid == a[2]) then
        call('HSET', keys[1], name, a[5] .. ' ' .. a[2] .. ' ' .. digest .. ' ' .. #a[i + 2] .. ' '
            .. a[i + 2] .. a[i + 3])
    end
    return first and not same, rival and not same, first
end

-- Drops what nobody has announced for an hour; returns whether there was any.
local function prune(keys, t)
    local old = call('ZRANGE', keys[2], '-inf', t - HOUR, 'BYSCORE', 'LIMIT', 0, BATCH)
    if #old == 0 then
        return false
    end
    call('HDEL', keys[1], unpack(old))
    call('ZREM', keys[2], unpack(old))
    return true
end

-- Appends what is to be watched of a server.
local function add_wanted(out, key, server, t)
    local uris = try('ZRANGE', key, '(' .. t, '+inf', 'BYSCORE', 'LIMIT', 0, 1024)
    for i = 1, #uris do
        out[#out + 1] = server
        out[#out + 1] = uris[i]
    end
end

-- The tools of the announcement that begins at a[6]. Returns the conflicts, what is to be watched,
-- and whether the list has changed.
local function list_all(keys, G, a, t)
    local conflicts, wanted, changed, at = {}, {}, false, 5
    for i = 6, #a, 4 do
        local seen = call('ZMSCORE', keys[2], a[i], ' ' .. a[i])
        local new, rival, first = list_tool(keys, G, a, i)
        if string.sub(a[i], 1, 1) == '@' then
            at = at + 1
            if first and keys[at] then
                add_wanted(wanted, keys[at], string.sub(a[i], 2), text(t))
            end
        end
        changed = changed or new or not seen[1] or t - seen[1] > BACK
        call('ZADD', keys[2], t, a[i])
        if rival then
            call('ZADD', keys[2], t, ' ' .. a[i])
        end
        if rival or (seen[2] and t - seen[2] < ALIVE) then
            conflicts[#conflicts + 1] = a[i]
        end
    end
    return conflicts, wanted, changed
end

-- Does another live worker announce that name?
local function is_served(keys, G, wid, name)
    for _, other in ipairs(call('ZRANGE', keys[4], 0, -1)) do
        local names = other ~= wid and try('HGET', G .. 'w:' .. other, 'tools')
        names = type(names) == 'string' and ' ' .. names .. ' ' or ''
        if string.find(names, ' ' .. name .. ' ', 1, true) then
            return true
        end
    end
    return false
end

-- What this worker announced before and does not any more; nothing but the odd worker that has
-- read its tools again gets beyond the comparison.
local function dropped(before, names)
    local gone, stay = {}, {}
    if not before or before == table.concat(names, ' ') then
        return gone
    end
    for _, name in ipairs(names) do
        stay[name] = true
    end
    for name in string.gmatch(before, '[^ ]+') do
        if not stay[name] then
            gone[#gone + 1] = name
        end
    end
    return gone
end

-- Of those, what nobody serves is listed no more; what another serves is that one's from its next
-- announcement on, whoever started later. Returns whether the list changed.
local function drop(keys, G, wid, gone)
    local changed = false
    for _, name in ipairs(gone) do
        local e = entry(call('HGET', keys[1], name))
        if not is_served(keys, G, wid, name) then
            call('HDEL', keys[1], name)
            call('ZREM', keys[2], name, ' ' .. name)
            changed = true
        elseif e and e.wid == wid then
            call('HSET', keys[1], name, e.started .. ' - ' .. e.digest .. ' ' .. e.length .. ' '
                .. e.rest)
        end
    end
    return changed
end

define('announce', WORKS, function(keys, a, G)
    local t, names = now(), {}
    for i = 6, #a, 4 do
        names[#names + 1] = a[i]
    end
    call('HLEN', keys[1])
    call('ZCARD', keys[2])
    call('GET', keys[3])
    call('ZCARD', keys[4])
    local gone = dropped(call('HGET', keys[5], 'tools'), names)
    call('HSET', keys[5], 'pool', a[3], 'info', a[4], 'st', a[5], 'at', text(t),
        'tools', table.concat(names, ' '))
    call('PEXPIRE', keys[5], ALIVE)
    call('ZADD', keys[4], t, a[2])
    call('ZREMRANGEBYSCORE', keys[4], '-inf', t - 4 * ALIVE)
    local conflicts, wanted, changed = list_all(keys, G, a, t)
    local fewer = drop(keys, G, a[2], gone)
    if prune(keys, t) or changed or fewer then
        call('INCR', keys[3])
        send_all(G, 'L')
    end
    return {conflicts, wanted}
end)
