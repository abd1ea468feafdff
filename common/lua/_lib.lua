-- The shared part of the library; sorts before every function.
--
-- Every function gets (KEYS, ARGV, T): T = ARGV[1] is the prefix of all keys it touches. At load
-- time nothing but redis.register_function exists, so the rest is bound at the first call.
--
-- call raises an error, try answers it. call is for keys that are read before the first write, and
-- for writes to keys whose type has been read; try is for what may not end a move half-way: keys
-- that were only discovered (another task, a session, idle workers).
local call, try, format

local function define(name, flags, fn)
    redis.register_function{
        function_name = 'errand_@VERSION@_' .. name,
        flags = flags,
        callback = function(keys, argv)
            if not call then
                call, try, format = redis.call, redis.pcall, string.format
            end
            return fn(keys, argv, argv[1])
        end,
    }
end

local WORKS = {'allow-oom'}  -- what ends, frees or only reads goes on when memory is full
local GROWS = {}             -- refused when memory is full
local READS = {'no-writes'}

local BATCH = 128            -- no loop handles more in one call
local HOUR = 3600000

-- Lua's own conversion keeps 14 digits only; and redis.call takes text faster than numbers.
local function text(number)
    return format('%d', number)
end

local function now_us()
    local t = call('TIME')
    return t[1] * 1000000 + t[2]
end

local function ms_of(us)
    return math.floor(us / 1000)
end

local function now()
    return ms_of(now_us())
end

-- Of 'errand:{0}:', 'errand:' and '0'; remembered, for it is asked with every message.
local halves = {}

local function split(T)
    local half = halves[T]
    if not half then
        half = {string.match(T, '^(.*:){(.*)}:$')}
        halves[T] = half
    end
    return half[1], half[2]
end

-- Appends a field and its value to the arguments of an HSET; an empty one is not stored.
local function put(set, name, value)
    if value and value ~= '' then
        set[#set + 1] = name
        set[#set + 1] = value
    end
end

-- Says something to one process; how many heard it.
local function send(T, process, message)
    return call('PUBLISH', split(T) .. 'ch:' .. process, message)
end

local function send_all(T, message)
    call('PUBLISH', split(T) .. 'all', message)
end

-- Counts an operation of a principal: rate operations per 1000 s, a burst of one second's worth
-- (GCRA: the key holds the time, in us, when the principal has paid for all it did).
-- at: now, us; count: it is worth so many, 1 when not given. Who may do one may do it whatever it is
-- worth, and pays afterwards. Returns nil, or the answer for one who is over it.
local function over_rate(key, rate, at, count)
    rate = tonumber(rate)
    if rate == 0 then
        return nil
    end
    local cost = 1e9 / rate
    local paid = math.max(tonumber(call('GET', key) or 0), at)
    local early = paid - at - cost * (math.max(rate / 1000, 1) - 1)
    if early > 0 then
        return {'RATE', text(math.ceil(early / 1000))}
    end
    paid = paid + cost * (count or 1)
    call('SET', key, text(paid), 'PX', text(math.ceil((paid - at) / 1000)))
    return nil
end
