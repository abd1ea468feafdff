-- report: what a running job says of itself.
--   KEYS  t:id
--   ARGV  T id fence has_message message has_progress progress value
--   returns a verdict
-- What has not changed is not written, and then nobody is told. value is the number in progress, a
-- JSON object; a client that gave a token is sent it while it grows.

-- Is there somebody to send the progress to, and is it more than before? The token, or false.
local function token_for(key, a)
    local value = a[6] == '1' and tonumber(a[8] or '')
    if not value then
        return false
    end
    local f = call('HMGET', key, 'pt', 'pm')
    return f[1] and (not f[2] or value > tonumber(f[2])) and f[1]
end

local function say_progress(T, id, h, token)
    local members = string.match(h[PROGRESS], '^%s*{(.*"progress".*)}%s*$')
    if members then
        say(T, id, h, '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":'
            .. token .. ',' .. members .. related(id, h) .. '}}')
    end
end

define('report', WORKS, function(keys, a, T)
    local key, h = keys[1], load(keys[1])
    local v = verdict(h, a[3])
    if v then
        return v
    end
    local message = a[4] == '1' and a[5] or h[MESSAGE] or ''
    local progress = a[6] == '1' and a[7] or h[PROGRESS] or ''
    if message == (h[MESSAGE] or '') and progress == (h[PROGRESS] or '') then
        return 'OK'
    end
    local t, token = now(), token_for(key, a)
    local ut, version = touch(h, t)
    local set = {'ut', ut, 'v', version}
    if message == '' and h[MESSAGE] then
        call('HDEL', key, 'm')
    end
    if progress == '' and h[PROGRESS] then
        call('HDEL', key, 'pg')
    end
    put(set, 'm', message ~= h[MESSAGE] and message)
    put(set, 'pg', progress ~= h[PROGRESS] and progress)
    put(set, 'pm', token and a[8])
    call('HSET', key, unpack(set))
    h[MESSAGE], h[PROGRESS] = message, progress
    if token then
        say_progress(T, a[2], h, token)
    end
    tell(T, a[2], h)
    return 'OK'
end)
