-- get: one task, and interest in what becomes of it.
--   KEYS  t:id rl:oh
--   ARGV  T id oh rate bid outcome hidden_too
--   returns row, false, {'RATE', ms}
-- bid is registered only while the task has not ended. outcome 2 is for who only waits for the end:
-- the row of a task that goes on then tells its state, vis, dia and xp, and nothing else.

-- What load answers, as far as that needs.
local function load_wait(key)
    local f = call('HMGET', key, 's', 'o', 'wb', 'vis', 'dia', 'xp')
    if not f[1] or ENDED[f[1]] then
        return load(key)
    end
    return {f[1], '', '', f[2], f[3], false, f[4] or 't', false, false, f[5], '', f[6], false, '',
            '', [UPDATED] = ''}
end

define('get', WORKS, function(keys, a, T)
    local h = (a[6] == '2' and load_wait or load)(keys[1])
    local over = over_rate(keys[2], a[4], now_us())
    if over then
        return over
    elseif h[OWNER] ~= a[3] or (h[VIS] == 'c' and a[7] ~= '1') then
        return false
    end
    register(T, a[2], h, a[5])
    return row(a[2], h, a[6] ~= '0' and ENDED[h[STATE]] and call('HGET', keys[1], 'r'))
end)
