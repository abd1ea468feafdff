-- claim: ready jobs for one worker, for one lease; fewer than asked: it is idle from now on.
--   KEYS  ls il:pool lc:wid, then rq:tool:c, class after class of all tools
--   ARGV  T wid pool n lease reversed number k tool*k
--   returns jobs (see _ready.lua)
-- reversed 1 scans the classes from the last to the first; number names this claim (see unclaim).
-- n = 0: the worker is no longer idle, and if anything is ready, another worker of its pool is woken
-- instead.
define('claim', WORKS, function(keys, a, T)
    local w = worker(a, keys[1], keys[3])
    call('ZCARD', keys[1])
    local listed = call('LPOS', keys[2], w.wid)
    if w.n == 0 then
        if listed then
            call('LREM', keys[2], 0, w.wid)
        end
        if filled(keys, 4, 3 + 4 * w.tools) > 0 then
            wake_pool(T, a[3], WAKE_TRIES)
        end
        return {}
    end
    return take_or_rest(T, keys, 4, a, 9, w, now(), listed)
end)
