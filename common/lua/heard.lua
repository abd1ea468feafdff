-- heard: the callbacks that wait for a running job (see hook), but for those that have decided nothing
-- and are forgotten.
--   KEYS  t:id
--   ARGV  T id fence forget
--   returns {'OK', calls, at} or {verdict}
-- at: how many bytes of callbacks this task has forgotten so far; forget: how many it should have. So
-- the same call twice forgets once.
define('heard', WORKS, function(keys, a)
    local key, h = keys[1], load(keys[1])
    local v = verdict(h, a[3])
    if v then
        return {v}
    end
    local calls, at = call('HGET', key, 'cb') or '', tonumber(call('HGET', key, 'cf') or 0)
    local by = math.min(#calls, tonumber(a[4]) - at)
    if by > 0 then
        calls, at = string.sub(calls, by + 1), at + by
        if calls == '' then
            call('HDEL', key, 'cb')
            call('HSET', key, 'cf', text(at))
        else
            call('HSET', key, 'cb', calls, 'cf', text(at))
        end
    end
    return {'OK', calls, text(at)}
end)
