-- hook: a callback of the work that a task has begun elsewhere; the worker that runs it is told, and
-- one that takes the task up later finds it.
--   KEYS  t:id
--   ARGV  T id body
--   returns 'OK'; 'KNOWN' when the very same waits already; 'FULL' when too much does; 'ENDED'; false
-- Who may call is decided before: the address holds a token. Callbacks wait in the field cb, one
-- after the other, each after its length and a blank.
local BYTES_MAX, CALLS_MAX = 1048576, 1024

-- Does that very call wait already? And how many do?
local function look_for(calls, body)
    local at, count = 1, 0
    while at <= #calls do
        local n, from = string.match(calls, '^(%d+) ()', at)
        if not n then
            break
        elseif string.sub(calls, from, from + n - 1) == body then
            return true, count
        end
        at, count = from + n, count + 1
    end
    return false, count
end

define('hook', GROWS, function(keys, a, T)
    local key, h = keys[1], load(keys[1])
    if not h[STATE] then
        return false
    elseif ENDED[h[STATE]] then
        return 'ENDED'
    end
    local calls = call('HGET', key, 'cb') or ''
    local is_known, count = look_for(calls, a[3])
    if is_known then
        return 'KNOWN'
    elseif #calls + #a[3] > BYTES_MAX or count >= CALLS_MAX then
        return 'FULL'
    end
    call('HSET', key, 'cb', calls .. #a[3] .. ' ' .. a[3])
    if h[WORKER] then
        send(T, h[WORKER], 'H ' .. a[2])
    end
    return 'OK'
end)
