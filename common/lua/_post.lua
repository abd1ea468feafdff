-- Event streams: whose each is, and how something is put on it.
--
-- sm:<st> is the record of a stream, sx:<st> what it carried. A stream is mostly found by an id that
-- only Redis knows, so nothing here may end a move half-way.

-- Places of the fields in what stream_of answers.
local KIND, SESSION_OF, OWNER_OF, HOLDER, TASK_OF, REQUEST_OF = 1, 2, 3, 4, 5, 6

local STREAM_KEEP = 512 -- events, about
local STREAM_READ = 1000
local STREAM_AFTER = 60000 -- ms that a stream of a task's own may outlive it, for its answer

-- The record of a stream, nil when there is none.
local function stream_of(T, st)
    local r = try('HMGET', T .. 'sm:' .. st, 'k', 'ss', 'o', 'b', 't', 'ri')
    return r[KIND] and r
end

-- How long a stream may live when it is given ttl: a task's own goes soon after it.
local function life(T, task, ttl)
    local left = task and task ~= '' and call('PTTL', T .. 't:' .. task)
    if not left or left == -1 then
        return ttl
    end
    return text(math.min(ttl, math.max(left, 0) + STREAM_AFTER))
end

local function write_stream(key, r, ttl)
    local done = try('HSET', key, 'k', r[KIND], 'ss', r[SESSION_OF], 'o', r[OWNER_OF],
        'b', r[HOLDER], 't', r[TASK_OF], 'ri', r[REQUEST_OF])
    return type(done) == 'number' and call('PEXPIRE', key, ttl) == 1
end

-- Puts an event on a stream and tells its holder, if it has one. field d: a whole message; t: the
-- record of a task. Returns whether that was possible.
local function post(T, st, holder, field, data)
    local key = T .. 'sx:' .. st
    local entry = try('XADD', key, 'MAXLEN', '~', STREAM_KEEP, '*', field, data)
    if type(entry) ~= 'string' then
        return false
    end
    if call('PTTL', key) < 0 then
        call('PEXPIREAT', key, math.max(call('PEXPIRETIME', T .. 'sm:' .. st), now()))
    end
    if holder and holder ~= '' then
        send(T, holder, 'S ' .. st .. ' ' .. entry .. ' ' .. field .. ' ' .. #data .. '\n' .. data)
    end
    return true
end

-- What followed an entry of the stream under key: entry field data of each, flat. nil when `last` is
-- no entry.
local function events_after(key, last)
    local got = try('XRANGE', key, '(' .. last, '+', 'COUNT', STREAM_READ)
    if got.err then
        return nil
    end
    local out = {}
    for i = 1, #got do
        out[#out + 1] = got[i][1]
        out[#out + 1] = got[i][2][1]
        out[#out + 1] = got[i][2][2]
    end
    return out
end
