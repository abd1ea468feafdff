-- finish: ends a batch of jobs and claims more in the same step.
--   KEYS  ls il:pool st dq lc:wid t:id..., then rq:tool:c, class after class of all tools
--   ARGV  T wid pool n lease reversed number kt ko tool*kt
--         (id fence state is_error message outcome dead)*ko
--   returns {verdicts, jobs}; a verdict is OK DONE STALE ENDED GONE
-- n = 0 claims nothing and leaves the idle list alone. Of one id named twice, the second is DONE.

-- One outcome, whose seven arguments begin at i.
local function end_one(b, key, a, i)
    local h = load_end(key)
    local v = verdict(h, a[i + 1])
    if v then
        return v
    end
    local e = {state = a[i + 2], is_error = a[i + 3] == '1', message = a[i + 4],
               outcome = a[i + 5], dead = a[i + 6] == '1'}
    if e.dead then
        h[TRIED] = text((call('HGET', key, 'tr') or 0) + 1)
        bury(b, a[i], h, e.message ~= '' and e.message or e.outcome)
    end
    settle(b, a[i], h, e)
    return 'OK'
end

define('finish', WORKS, function(keys, a, T)
    local w, outcomes = worker(a, keys[1], keys[5]), tonumber(a[9])
    local t, verdicts, gone = now(), {}, {}
    local b = batch(T, t, {st = keys[3], dq = keys[4]})
    local listed = w.n > 0 and call('LPOS', keys[2], w.wid)
    call('ZCARD', keys[1])
    call('XLEN', keys[4])
    for i = 1, math.min(outcomes, BATCH) do
        local at = 10 + w.tools + 7 * (i - 1)
        verdicts[i] = end_one(b, keys[5 + i], a, at)
        if verdicts[i] == 'OK' or verdicts[i] == 'GONE' then
            gone[#gone + 1] = a[at]
        end
    end
    if #gone > 0 then
        call('ZREM', keys[1], unpack(gone))
    end
    commit(b)
    if w.n == 0 then
        return {verdicts, {}}
    end
    return {verdicts, take_or_rest(T, keys, 6 + outcomes, a, 10, w, t, listed)}
end)
