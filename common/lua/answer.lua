-- answer: what was said to a question; the last one sets the job going again.
--   KEYS  t:id se:sid
--   ARGV  T id oh sid key answer
--   returns {'OK', row}; false; {'CONFLICT'} when that was not asked, or is answered
-- sid '': the stateless dialect; else false too for a session that was not asked. Questions of a lost
-- attempt may be answered while the next one waits: it is given the answer when it asks again. The
-- first answer to a hosted question only says who works on it: the job waits on.
define('answer', WORKS, function(keys, a, T)
    local key, id, h = keys[1], a[2], load(keys[1])
    if h[OWNER] ~= a[3] then
        return false
    end
    local q = question(key, a[5])
    if ENDED[h[STATE]] or not q.asked or q.answer then
        return {'CONFLICT'}
    elseif a[4] ~= '' and not was_sent_to(q, a[4]) then
        return false
    end
    local t = now()
    if q.hosted then
        call('HSET', key, 'a:' .. a[5], a[6])
    else
        local ut, v = touch(h, t)
        h[ASKED] = without(h[ASKED], a[5])
        h[STATE] = h[ASKED] == '' and 'w' or h[STATE]
        call('HSET', key, 's', h[STATE], 'ut', ut, 'v', v, 'io', h[ASKED], 'a:' .. a[5], a[6])
    end
    if h[WORKER] then
        send(T, h[WORKER], 'I ' .. id .. ' ' .. a[5])
    end
    if not q.hosted then
        tell(T, id, h)
    end
    return {'OK', row(id, h)}
end)
