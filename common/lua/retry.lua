-- retry: this attempt failed in passing; the task runs again after a while, if it may.
--   KEYS  t:id ls dl dq st
--   ARGV  T id fence delay_ms message error
--   returns a verdict; DEAD when that was the last attempt: it ended with `error` as a dead letter
-- The task keeps its place in the owner's window, so that a storm of retries displaces nobody.
define('retry', WORKS, function(keys, a, T)
    local h = load(keys[1])
    local v = verdict(h, a[3])
    if v then
        return let_go(T, a[2], h, v)
    end
    local b = batch(T, now(), {dl = keys[3], dq = keys[4], st = keys[5]})
    call('ZCARD', keys[2])
    call('ZCARD', keys[3])
    call('XLEN', keys[4])
    local goes_on = again(b, a[2], h, b.t + a[4], a[5], a[6])
    call('ZREM', keys[2], a[2])
    commit(b)
    return goes_on and 'OK' or 'DEAD'
end)
