-- stream_resume: goes on with a stream after an entry, at the process that its client came back to.
--   KEYS  sm:st sx:st se:sid
--   ARGV  T st last sid oh bid ttl
--   returns {'OK', kind, task, rid, gap, (entry field data)...}; false when there is no such stream
--           of that session and owner, or `last` is no entry
-- gap 1: some of what followed is no longer there. What its task asked elsewhere meanwhile, or what
-- may have fallen into the gap, is asked again here.

local function parts(entry)
    local ms, n = string.match(entry, '^(%d+)%-?(%d*)$')
    return tonumber(ms), tonumber(n) or 0
end

-- Was any of what followed `last` trimmed? Unsure only when it was the last one to be trimmed.
local function has_gap(key, last)
    local first = call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
    if not first then
        return false
    end
    local ms, n = parts(first[1])
    local last_ms, last_n = parts(last)
    if ms < last_ms or (ms == last_ms and n <= last_n) then
        return false
    end
    local info, f = call('XINFO', 'STREAM', key), {}
    for i = 1, #info, 2 do
        f[info[i]] = info[i + 1]
    end
    return f['entries-added'] > f['length']
end

define('stream_resume', WORKS, function(keys, a, T)
    local st, r = a[2], call('HMGET', keys[1], 'k', 'ss', 'o', 'b', 't', 'ri')
    local session = call('HMGET', keys[3], 'o', 'gs')
    if r[OWNER_OF] ~= a[5] or r[SESSION_OF] ~= a[4] or session[1] ~= a[5]
        or not string.find(a[3], '^%d+%-?%d*$') or not events_after(keys[2], a[3]) then
        return false
    end
    local gap, former = has_gap(keys[2], a[3]), r[HOLDER]
    local h = r[KIND] ~= 'g' and load(T .. 't:' .. r[TASK_OF])
    local ttl = life(T, r[TASK_OF], a[7])
    r[HOLDER] = a[6]
    call('HSET', keys[1], 'b', a[6])
    call('PEXPIRE', keys[1], ttl)
    call('PEXPIRE', keys[2], ttl)
    if former ~= a[6] then
        tell_holder(T, former, 'G', st)
    end
    if not h then
        lead_session(T, keys[3], st, session[2])
    elseif h[OWNER] == a[5] then
        lead_task(T, r[TASK_OF], h, st, r, gap)
    end
    return {'OK', r[KIND], r[TASK_OF] or '', r[REQUEST_OF] or '', gap and '1' or '0',
            unpack(events_after(keys[2], a[3]))}
end)
