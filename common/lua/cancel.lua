-- cancel: ends a task wherever it stands; the worker that runs it is fenced off and told.
--   KEYS  t:id ls dl st oa:oh rl:oh
--   ARGV  T id oh rate hidden_too
--   returns {'OK', row}; {'ENDED', row} when it had ended; false; {'RATE', ms}
define('cancel', WORKS, function(keys, a, T)
    local key, id, us = keys[1], a[2], now_us()
    local h = load(key)
    call('ZCARD', keys[2])
    call('ZCARD', keys[3])
    call('ZCARD', keys[5])
    local over = over_rate(keys[6], a[4], us)
    if over then
        return over
    elseif h[OWNER] ~= a[3] or (h[VIS] == 'c' and a[5] ~= '1') then
        return false
    elseif ENDED[h[STATE]] then
        return {'ENDED', row(id, h)}
    end
    local b = batch(T, ms_of(us), {st = keys[4]})
    call('HSET', key, 'n', text(h[FENCE] + 1))
    settle(b, id, h, {state = 'x', message = 'cancelled by request'})
    local runs = call('ZREM', keys[2], id) == 1 and h[WORKER]
    if not runs or send(T, h[WORKER], 'C ' .. id) == 0 then
        abandon(T, id, h)
    end
    call('ZREM', keys[3], id)
    commit(b)
    return {'OK', row(id, h)}
end)
