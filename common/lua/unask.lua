-- unask: a running job waits no longer for a question: it gave it up, or has the final answer to a
-- hosted one.
--   KEYS  t:id ls
--   ARGV  T id fence key answer
--   returns a verdict
-- answer '': the question is forgotten, with whatever was answered. Else it is kept as the answer. A
-- client that was asked and has not answered is told that it need not.
define('unask', WORKS, function(keys, a, T)
    local key, id, name, h = keys[1], a[2], a[4], load(keys[1])
    local v = verdict(h, a[3])
    if v then
        return v
    end
    local q = question(key, name)
    if not q.asked then
        return 'OK'
    end
    local t, waited = now(), has_line(h[ASKED], name)
    local st, r
    if q.sessions ~= '' and not q.answer and not q.hosted then
        st, r = carrier(T, id, h)
    end
    if st then
        withdraw(T, id, h, q, st, r, r[HOLDER])
    end
    if a[5] == '' then
        call('HDEL', key, 'q:' .. name, 'a:' .. name)
    else
        call('HSET', key, 'a:' .. name, a[5])
    end
    if q.n > 0 then
        call('HSET', key, 'w:' .. name, text(q.n)) -- no id is used twice
    end
    if waited then
        local ut, version = touch(h, t)
        h[ASKED] = without(h[ASKED], name)
        h[STATE] = h[ASKED] == '' and 'w' or h[STATE]
        call('HSET', key, 's', h[STATE], 'ut', ut, 'v', version, 'io', h[ASKED])
        tell(T, id, h)
    end
    return 'OK'
end)
