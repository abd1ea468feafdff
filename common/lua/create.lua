-- create: a new task, queued or parked; or one that has ended already.
--   KEYS  t:id o:oh oa:oh ix sq st rl:oh rq:tool:c pl:tool [im:oh:idem]
--   ARGV  T id oh tool class ttl poll max_active max_running attempts rate vis dia bid session
--         idem idem_args token caller trace caps request params outcome outcome_is_error message
--         stream level ask_ms
--   returns {'OK', row}; {'DUP', row} for the same id, or the same idempotency key and digest (with
--           the outcome when bid is given); {'LIMIT'}; {'RATE', ms}; {'CONFLICT'}
-- A task found again by a call that may show it (vis t) is listed from then on.

-- The task of an earlier call, for the sender of the same one.
local function found(keys, a, T, id)
    local key = T .. 't:' .. id
    local h = load(key)
    register(T, id, h, a[14])
    if a[12] == 't' and h[VIS] == 'c' then
        call('HSET', key, 'vis', 't')
        call('ZADD', keys[2], h[SEQ], id)
        h[VIS] = 't'
    end
    return {'DUP', row(id, h, a[14] ~= '' and call('HGET', key, 'r'))}
end

-- nil, or the answer for an idempotency key that is taken.
local function repeated(keys, a, T, taken)
    local id, digest = string.match(taken or '', '^(%S+) (.*)$')
    if not id or call('HGET', T .. 't:' .. id, 'o') ~= a[3] then
        return nil
    end
    return digest == a[17] and found(keys, a, T, id) or {'CONFLICT'}
end

-- A new record: what every task has.
local function common(a, h)
    local set = {'s', h[STATE], 'o', a[3], 'dia', a[13], 'ct', h[CREATED], 'xp', h[EXPIRES],
        'sq', h[SEQ], 'q', a[4], 'c', a[5], 'mx', a[10]}
    put(set, 'vis', a[12] == 'c' and 'c')
    put(set, 'wb', h[WAITING])
    put(set, 'ss', a[15])
    put(set, 'pi', h[POLL])
    put(set, 'L', a[9] ~= '0' and a[9])
    return set
end

-- Writes the record of a task that is to run, or of one that has ended.
local function record(key, a, h)
    local set = common(a, h)
    if h[STATE] == 'r' then
        put(set, 'ie', h[ISERR])
        put(set, 'm', a[26])
        put(set, 'r', a[24])
    else
        put(set, 'pt', a[18])
        put(set, 'tp', a[20])
        put(set, 'ri', a[22])
        put(set, 'cl', a[19])
        put(set, 'cc', a[21])
        put(set, 'p', a[23])
        put(set, 'sl', a[27])
        put(set, 'll', a[28])
        put(set, 'ak', a[29] ~= '0' and a[29])
    end
    call('HSET', key, unpack(set))
    call('PEXPIREAT', key, h[EXPIRES])
end

-- The new task as load would answer it.
local function fresh(a, t, seq, is_ended)
    local h = {is_ended and 'r' or 'w', '0', '1', a[3], not is_ended and a[14], a[15], a[12],
        is_ended and a[26], false, a[13], text(t), text(t + a[6]), a[7] ~= '0' and a[7], seq, a[4]}
    h[UPDATED] = h[CREATED]
    h[ISERR] = is_ended and a[25] == '1' and '1'
    return h
end

-- Writes a new task under all its keys.
local function place(keys, a, T, h, active)
    record(keys[1], a, h)
    if a[12] == 't' then
        call('ZADD', keys[2], h[SEQ], a[2])
    end
    call('ZADD', keys[4], h[EXPIRES], a[2] .. a[3])
    if keys[10] then
        call('SET', keys[10], a[2] .. ' ' .. a[17], 'PXAT', h[EXPIRES])
    end
    if h[STATE] == 'r' then
        try('HINCRBY', keys[6], 'r', '1')
    else
        enqueue(T, keys[3], {id = a[2], tool = a[4], class = a[5], limit = tonumber(a[9]),
                             xp = h[EXPIRES], seq = h[SEQ]}, active)
    end
end

-- One of the keys holds something else: as if nothing had been written (a number of the sequence is
-- used up). This costs less than to look at every key first.
local function undo(keys, a)
    call('DEL', keys[1])
    try('ZREM', keys[2], a[2])
    try('ZREM', keys[3], a[2])
    try('ZREM', keys[4], a[2] .. a[3])
    if keys[10] then
        call('DEL', keys[10])
    end
end

define('create', GROWS, function(keys, a, T)
    local owner = call('HGET', keys[1], 'o')
    if owner then
        return owner == a[3] and found(keys, a, T, a[2]) or {'CONFLICT'}
    end
    local active, is_ended, max = call('ZCARD', keys[3]), a[24] ~= '', tonumber(a[8])
    local taken = keys[10] and call('GET', keys[10])
    local us = now_us()
    local answer = over_rate(keys[7], a[11], us) or repeated(keys, a, T, taken)
    if answer then
        return answer
    elseif max > 0 and active >= max and not is_ended then
        return {'LIMIT'}
    end
    local h = fresh(a, ms_of(us), text(call('INCR', keys[5])), is_ended)
    local placed, why = pcall(place, keys, a, T, h, active)
    if not placed then
        undo(keys, a)
        error(why)
    end
    return {'OK', row(a[2], h)}
end)
