-- log: a line that a running job logs for its client.
--   KEYS  t:id
--   ARGV  T id fence level logger data
--   returns a verdict
-- data is JSON; logger a JSON string, or ''. It is sent when its level is at least the one that the
-- session set (info, when it set none), or, in the stateless dialect, that the call asked for (none:
-- never). What nobody can be sent is not kept.
local LEVELS = {debug = 1, info = 2, notice = 3, warning = 4, error = 5, critical = 6, alert = 7,
                emergency = 8}

local function least_level(T, key, h)
    if h[DIA] == 'M' then
        return LEVELS[call('HGET', key, 'll') or '']
    end
    local set = h[SESSION] and try('HGET', T .. 'se:' .. h[SESSION], 'lv')
    return LEVELS[type(set) == 'string' and set or 'info'] or LEVELS.info
end

define('log', GROWS, function(keys, a, T)
    local h = load(keys[1])
    local v = verdict(h, a[3])
    if v then
        return v
    end
    local level, least = LEVELS[a[4]], least_level(T, keys[1], h)
    if level and least and level >= least then
        say(T, a[2], h, '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"'
            .. a[4] .. '"' .. (a[5] ~= '' and ',"logger":' .. a[5] or '') .. ',"data":' .. a[6]
            .. related(a[2], h) .. '}}')
    end
    return 'OK'
end)
