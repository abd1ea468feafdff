-- watch_tell: a resource has changed; the sessions that watch it are told on their GET streams.
--   KEYS  wu:uri...
--   ARGV  T server uri from_key after uri...
--   returns {key, after} from where to go on, {} at the end
-- Keys: the resource and what it is a part of, for whoever watches a whole is told of its parts. Of
-- the sessions under a key those go that have ended. They are taken in the order of the time until
-- which they are kept, which only grows: who is kept anew between two calls may come twice, and is
-- never passed over.

-- Whether the session may be told by this key, and its GET stream, if it has one.
local function watcher(T, sid, uri, server)
    if try('HGET', T .. 'wt:' .. sid, uri) ~= server then
        return call('EXISTS', T .. 'wt:' .. sid) == 1, nil
    end
    local gs = try('HGET', T .. 'se:' .. sid, 'gs')
    return call('EXISTS', T .. 'se:' .. sid) == 1, type(gs) == 'string' and gs or nil
end

-- The next sessions of a key after that time, and the time of the last: all that share it are there.
local function some(key, after, count)
    local found = try('ZRANGEBYSCORE', key, '(' .. after, '+inf', 'WITHSCORES', 'LIMIT', 0, count)
    local sids, last = {}, nil
    for j = 1, #found, 2 do
        sids[#sids + 1] = found[j]
        last = found[j + 1]
    end
    if #sids < count then
        return sids, nil
    end
    local same = try('ZRANGEBYSCORE', key, last, last)
    for j = 1, #same do
        sids[#sids + 1] = same[j]
    end
    return sids, last
end

define('watch_tell', WORKS, function(keys, a, T)
    local left, told = BATCH, {}
    local message = '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":'
        .. quote(a[3]) .. '}}'
    local after = a[5]
    for i = tonumber(a[4]), #keys do
        local sids, last = some(keys[i], after, left)
        for j = 1, #sids do
            local lives, gs = watcher(T, sids[j], a[5 + i], a[2])
            local r = gs and not told[sids[j]] and stream_of(T, gs)
            if not lives then
                call('ZREM', keys[i], sids[j])
            end
            if r then
                told[sids[j]] = true
                post(T, gs, r[HOLDER], 'd', message)
            end
        end
        if last then
            return {text(i), last}
        end
        left = left - #sids
        after = '0'
    end
    return {}
end)
