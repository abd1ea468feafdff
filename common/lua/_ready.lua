-- Ready lists, idle workers, and the window of an owner.

local PARKED = 4503599627370496 -- 2^52: from this score on, a member of oa is parked
local FROM_PARKED, BELOW_PARKED = '4503599627370496', '(4503599627370496'
local CLASS = 1099511627776     -- 2^40
local WAKE_TRIES = 4
local LOOKED_MAX = 512          -- ids that one claim takes from the lists, jobs or not

-- Wakes one idle worker of a pool; ids of dead ones (nobody hears) are dropped on the way.
-- Returns how many tries are left, 0 when someone was woken.
local function wake_pool(T, pool, tries)
    local _, partition = split(T)
    while tries > 0 do
        local wid = try('RPOP', T .. 'il:' .. pool)
        if type(wid) ~= 'string' then
            return tries
        end
        if send(T, wid, 'K ' .. partition) > 0 then
            return 0
        end
        tries = tries - 1
    end
    return 0
end

-- Wakes one idle worker of any pool that serves the tool: of the 16 that said so last, for those
-- that are gone stay in the list for an hour.
local function wake(T, tool)
    local pools = try('ZRANGE', T .. 'pl:' .. tool, '0', '15', 'REV')
    local tries = WAKE_TRIES
    for i = 1, #pools do
        tries = wake_pool(T, pools[i], tries)
        if tries == 0 then
            return
        end
    end
end

-- Makes a task ready: LPUSH joins the queue at its end, RPUSH goes to its head. The list lives as
-- long as the last of its tasks, and up to an hour more, which saves a write for most pushes.
-- False, and nothing is changed, when the key is not a list.
local function push(T, how, id, tool, class, xp)
    local key = T .. 'rq:' .. tool .. ':' .. class
    local length = try(how, key, id)
    if type(length) ~= 'number' then
        return false
    end
    if length == 1 or call('PEXPIRETIME', key) < xp + 0 then
        call('PEXPIREAT', key, text(xp + HOUR))
    end
    wake(T, tool)
    return true
end

-- Puts a new task into its owner's window and its queue, or parks it. n: id, tool, class, limit,
-- xp, seq; active: how many unfinished tasks the owner has.
local function enqueue(T, oa, n, active)
    if n.limit > 0 and active >= n.limit
        and call('ZCOUNT', oa, '-inf', BELOW_PARKED) >= n.limit then
        call('ZADD', oa, text(PARKED + n.class * CLASS + n.seq), n.id)
    else
        call('ZADD', oa, n.xp, n.id)
        if not push(T, 'LPUSH', n.id, n.tool, n.class, n.xp) then
            error({err = 'WRONGTYPE a queue is not a list'})
        end
    end
end

-- One parked task, if it may run within its own limit. Returns false when it is no task any more.
local function unpark(T, oa, id, running)
    local h = try('HMGET', T .. 't:' .. id, 's', 'L', 'q', 'c', 'xp')
    if h[1] ~= 'w' then
        return false
    end
    local limit = tonumber(h[2] or 0)
    if (limit == 0 or running < limit) and push(T, 'LPUSH', id, h[3], h[4], h[5]) then
        call('ZADD', oa, h[5], id)
        return true, running + 1
    end
    return true, nil
end

-- `places` of an owner's window became free: promotes at most so many parked tasks. Parked tasks
-- that have expired are removed on the way.
local function promote(T, oa, places)
    if call('ZCOUNT', oa, FROM_PARKED, '+inf') == 0 then
        return
    end
    local running = call('ZCOUNT', oa, '-inf', BELOW_PARKED)
    for _ = 1, 8 do
        local ids = call('ZRANGE', oa, FROM_PARKED, '+inf', 'BYSCORE', 'LIMIT', '0', '16')
        if #ids == 0 then
            return
        end
        for i = 1, #ids do
            local is_task, more = unpark(T, oa, ids[i], running)
            if not is_task then
                call('ZREM', oa, ids[i])
            else
                places = places - 1
                if not more or places == 0 then
                    return
                end
                running = more
            end
        end
    end
end

-- A claimed job: id fence attempt attempts ttl_left_ms tool params caller trace token handle caps
-- vis dia ask_ms age_ms.
-- False for what has ended or expired while it waited.
local function take_one(T, id, tool, wid, t)
    local key = T .. 't:' .. id
    local h = try('HMGET', key, 's', 'n', 'tr', 'mx', 'xp', 'p', 'cl', 'tp', 'pt', 'hd', 'cc',
        'vis', 'dia', 'ak', 'ct')
    if h[1] ~= 'w' or h[5] - t <= 0 then
        return false
    end
    local fence = text((h[2] or 0) + 1)
    call('HSET', key, 'n', fence, 'wk', wid)
    return {id, fence, text((h[3] or 0) + 1), h[4], text(h[5] - t), tool, h[6] or '', h[7] or '',
            h[8] or '', h[9] or '', h[10] or '', h[11] or '', h[12] or 't', h[13], h[14] or '0',
            text(math.max(0, t - h[15]))}
end

-- Who claims, from the arguments T wid pool n lease reversed number tools; lc: its last claim.
local function worker(a, ls, lc)
    return {wid = a[2], n = math.min(tonumber(a[4]), BATCH), lease = tonumber(a[5]),
            reversed = a[6] == '1', number = a[7], tools = tonumber(a[8]), ls = ls, lc = lc}
end

-- Takes up to w.n jobs of one tool from its list into got; `looked` bounds what is dropped on the
-- way.
local function drain(T, key, tool, w, t, got)
    local till = text(t + w.lease)
    while #got.jobs < w.n and got.looked < LOOKED_MAX do
        local asked = w.n - #got.jobs
        local ids = try('RPOP', key, asked)
        if not ids or ids.err then
            return
        end
        got.looked = got.looked + #ids
        for i = 1, #ids do
            local job = take_one(T, ids[i], tool, w.wid, t)
            if job then
                got.jobs[#got.jobs + 1] = job
                got.leases[#got.leases + 1] = till
                got.leases[#got.leases + 1] = ids[i]
            end
        end
        if #ids < asked then
            return
        end
    end
end

-- How many of keys i to j there are.
local function filled(keys, i, j)
    return i <= j and call('EXISTS', unpack(keys, i, j)) or 0
end

-- Visits those of the lists i to j that are not empty, in their order, while more is wanted. It
-- finds them by halving: of a hundred lists, a few are asked for by name.
local function search(keys, i, j, wants, visit)
    if j - i < 2 then
        for k = i, j do
            visit(k)
        end
        return
    end
    local middle = math.floor((i + j) / 2)
    if filled(keys, i, middle) > 0 then
        search(keys, i, middle, wants, visit)
    end
    if wants() and filled(keys, middle + 1, j) > 0 then
        search(keys, middle + 1, j, wants, visit)
    end
end

-- Takes up to w.n ready jobs for one worker and leases them. Its tools stand in a from index
-- `first` on, their lists in keys from index `from` on, class after class. Within a class it begins
-- with a tool that changes with the clock, so that none is always last.
-- Returns them, and whether it stopped before it had seen all there is.
local function take(T, keys, from, a, first, w, t)
    local got = {jobs = {}, leases = {}, looked = 0}
    local tools, step = w.tools, 0
    local function wants()
        return #got.jobs < w.n
    end
    local function visit(k)
        drain(T, keys[k], a[first + (k - from) % tools], w, t, got)
    end
    local left = filled(keys, from, from + 4 * tools - 1)
    while left > 0 and wants() and step < 4 do
        local low = from + tools * (w.reversed and 3 - step or step)
        local here, high = low + t % tools, low + tools - 1
        local count = filled(keys, low, high)
        if count > 0 then
            search(keys, here, high, wants, visit)
            if wants() then
                search(keys, low, here - 1, wants, visit)
            end
        end
        left, step = left - count, step + 1
    end
    if #got.leases > 0 then
        call('ZADD', w.ls, unpack(got.leases))
    end
    return got.jobs, got.looked >= LOOKED_MAX
end

-- Keeps the list of idle workers true after a claim.
local function note_idle(il, wid, is_idle, listed)
    if is_idle and not listed then
        local length = call('LPUSH', il, wid)
        if length == 1 then
            call('PEXPIRE', il, HOUR)
        elseif length > 1024 then
            call('LTRIM', il, 0, 1023)
        end
    elseif listed and not is_idle then
        call('LREM', il, 0, wid)
    end
end

-- Notes what a claim took, for its answer may be lost (see unclaim); for no longer than any of it
-- lives.
local function note_claim(w, jobs)
    local words, px = {w.number}, w.lease
    for i = 1, #jobs do
        words[i + 1] = jobs[i][1]
        px = math.min(px, tonumber(jobs[i][5]))
    end
    call('SET', w.lc, table.concat(words, ' '), 'PX', text(px))
end

-- Takes jobs for a worker of a pool (see take); with fewer than it asked for it is idle. Behind many
-- ids that were none something may still be ready: then somebody who is idle looks at once.
-- listed: the worker stands among the idle ones of il.
local function take_or_rest(T, keys, from, a, first, w, t, listed)
    local jobs, more = take(T, keys, from, a, first, w, t)
    local is_idle = #jobs < w.n
    note_idle(keys[2], w.wid, is_idle, listed)
    if #jobs > 0 then
        note_claim(w, jobs)
    end
    if is_idle and more then
        wake_pool(T, a[3], WAKE_TRIES)
    end
    return jobs
end
