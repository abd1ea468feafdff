-- stream_open: a process holds a new stream, which from now on carries what its task or its session
-- is told.
--   KEYS  sm:st sx:st se:sid t:id
--   ARGV  T st kind sid oh task rid bid ttl
--   returns {'OK', (entry field data)...}; false when the session or task is not that owner's
-- kind g: a session's GET stream; r: a tasks/result; c: a plain call, of which there may be a record
-- already, when its job had something to say before. sid or task may be ''.
define('stream_open', WORKS, function(keys, a, T)
    local st, kind, r = a[2], a[3], {a[3], a[4], a[5], a[8], a[6], a[7]}
    local owner = call('HGET', keys[1], 'o') or a[5]
    local session = call('HMGET', keys[3], 'o', 'gs')
    local h = load(keys[4])
    local ttl = life(T, a[6], a[9])
    call('XLEN', keys[2])
    if owner ~= a[5] or ((a[4] ~= '' or kind == 'g') and session[1] ~= a[5])
        or (kind ~= 'g' and h[OWNER] ~= a[5]) then
        return false
    end
    write_stream(keys[1], r, ttl)
    call('PEXPIRE', keys[2], ttl)
    if kind == 'g' then
        lead_session(T, keys[3], st, session[2])
    else
        lead_task(T, a[6], h, st, r, false)
    end
    return {'OK', unpack(events_after(keys[2], '0'))}
end)
