-- How an execution ends: for good, as a dead letter, or to be tried again.
--
-- A batch gathers what many endings have in common, so that each index is written once a call.

local function batch(T, t, keys)
    return {T = T, t = t, keys = keys, counts = {}, owners = {}, left = {}}
end

-- Remembers that a task leaves the window of its owner.
local function leave(b, owner, id)
    local ids = b.left[owner]
    if not ids then
        ids = {}
        b.left[owner] = ids
        b.owners[#b.owners + 1] = owner
    end
    ids[#ids + 1] = id
end

local function count(b, what)
    b.counts[what] = (b.counts[what] or 0) + 1
end

-- Writes what the batch gathered.
local function commit(b)
    for i = 1, #b.owners do
        local oa, ids = b.T .. 'oa:' .. b.owners[i], b.left[b.owners[i]]
        local gone = try('ZREM', oa, unpack(ids))
        if type(gone) == 'number' then
            promote(b.T, oa, #ids)
        end
    end
    for what, by in pairs(b.counts) do
        try('HINCRBY', b.keys.st, what, by)
    end
end

-- The questions of a task, open or answered; clients who think about one are told. There are some
-- hundreds at most, see ask.
local function forget_questions(T, id, h)
    local key = T .. 't:' .. id
    local names, asked, open = call('HKEYS', key), {'io'}, {}
    for i = 1, #names do
        local kind, name = string.match(names[i], '^([qaw]):(.*)$')
        if kind then
            asked[#asked + 1] = names[i]
        end
        if kind == 'q' then
            open[#open + 1] = name
        end
    end
    withdraw_all(T, id, h, open)
    call('HDEL', key, unpack(asked))
end

-- Forgets what an ended task needs no more; of a dead one its params are kept for a requeue.
local function strip(key, h, is_dead)
    if is_dead then
        call('HDEL', key, 'wk', 'wb', 'pt', 'cb', 'cf')
    else
        call('HDEL', key, 'p', 'wk', 'wb', 'cl', 'cc', 'pt', 'tp', 'cb', 'cf')
    end
end

-- The only place where a state becomes terminal. e: state, is_error, message, outcome, dead.
local function settle(b, id, h, e)
    local key = b.T .. 't:' .. id
    local ut, v = touch(h, b.t)
    local set = {'s', e.state, 'ut', ut, 'v', v}
    if e.message == '' and h[MESSAGE] then
        call('HDEL', key, 'm')
    end
    h[STATE], h[MESSAGE], h[ISERR] = e.state, e.message, e.is_error and '1'
    put(set, 'm', e.message)
    put(set, 'ie', h[ISERR])
    put(set, 'dd', e.dead and '1')
    put(set, 'r', e.outcome)
    call('HSET', key, unpack(set))
    if h[ASKED] then
        forget_questions(b.T, id, h)
    end
    strip(key, h, e.dead)
    leave(b, h[OWNER], id)
    count(b, e.state)
    tell(b.T, id, h, e.outcome)
end

-- The task has ended and no worker knows of it: what it has begun elsewhere is left, once, for one
-- to stop.
local ABANDONED_MAX, DAY = 1000, 86400000

local function abandon(T, id, h)
    local handle = call('HGET', T .. 't:' .. id, 'hd')
    if handle then
        local key = T .. 'ab:' .. h[TOOL]
        try('RPUSH', key, id .. ' ' .. handle)
        try('LTRIM', key, -ABANDONED_MAX, -1)
        try('PEXPIRE', key, DAY)
        try('HDEL', T .. 't:' .. id, 'hd')
    end
end

-- The verdict on a worker that lets go of an attempt. When the task was cancelled meanwhile, the
-- worker has heard of that too late to stop what goes on elsewhere.
local function let_go(T, id, h, v)
    if v == 'ENDED' and h[STATE] == 'x' then
        abandon(T, id, h)
    end
    return v
end

-- At most 1 KB, never half a character.
local function shorten(why)
    if #why <= 1024 then
        return why
    end
    local cut = 1024
    while cut > 1020 and string.find(why, '^[\128-\191]', cut + 1) do
        cut = cut - 1
    end
    return string.sub(why, 1, cut)
end

-- A line among the dead letters.
local function bury(b, id, h, why)
    call('XADD', b.keys.dq, 'MAXLEN', '~', 10000, '*', 'i', id, 'o', h[OWNER], 'q', h[TOOL],
        'n', h[TRIED] or '0', 'e', shorten(why))
    count(b, 'd')
end

-- The record of a task that waits again; h[FENCE] and h[TRIED] are new. What was asked may still
-- be answered, but nobody waits for it until it is asked again.
local function requeue(b, id, h, message)
    local ut, v = touch(h, b.t)
    local set = {'s', 'w', 'n', h[FENCE], 'ut', ut, 'v', v}
    if message ~= '' then
        h[MESSAGE] = message
    end
    h[STATE] = 'w'
    put(set, 'tr', h[TRIED])
    put(set, 'm', message)
    if h[ASKED] and h[ASKED] ~= '' then
        set[#set + 1], set[#set + 2] = 'io', ''
    end
    call('HSET', b.T .. 't:' .. id, unpack(set))
end

-- The execution of h is lost: charges it and queues the task again at `due`, or, when it was the
-- last one, ends the task with `fault` and buries it. Returns whether it goes on.
local function again(b, id, h, due, message, fault)
    local key = b.T .. 't:' .. id
    h[TRIED], h[FENCE] = text((h[TRIED] or 0) + 1), text(h[FENCE] + 1)
    if h[TRIED] - h[ATTEMPTS] >= 0 then
        call('HSET', key, 'n', h[FENCE], 'tr', h[TRIED])
        bury(b, id, h, message ~= '' and message or fault)
        settle(b, id, h, {state = 'e', message = message, outcome = fault, dead = true})
        abandon(b.T, id, h)
        return false
    end
    requeue(b, id, h, message)
    call('ZADD', b.keys.dl, due, id)
    tell(b.T, id, h)
    return true
end

-- Hands a running task back to the head of its queue; the attempt is not charged. Returns a verdict.
-- One whose queue cannot be written (not a list) is left to its lease, as if it were STALE.
local function give_back(b, key, id, fence)
    local h = load(key, try)
    local v = verdict(h, fence)
    if v then
        return let_go(b.T, id, h, v)
    elseif not push(b.T, 'RPUSH', id, h[TOOL], h[CLASS_OF], h[EXPIRES]) then
        return 'STALE'
    end
    h[FENCE] = text(h[FENCE] + 1)
    if h[STATE] == 'w' then
        call('HSET', key, 'n', h[FENCE])
    else
        requeue(b, id, h, '')
        tell(b.T, id, h)
    end
    return 'OK'
end
