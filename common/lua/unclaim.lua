-- unclaim: the answer of a claim was lost; what it took goes back to the heads of its queues, and no
-- attempt is charged.
--   KEYS  ls lc:wid
--   ARGV  T wid number
--   returns how many went back
-- What was cancelled meanwhile leaves its handle, for that worker did not know of the job.
-- None when that claim took nothing, or another of that worker's has taken something since.
define('unclaim', WORKS, function(keys, a, T)
    local last = call('GET', keys[2])
    local number, taken = string.match(last or '', '^(%d+) (.*)$')
    local b, ids, gone = batch(T, now(), {}), {}, {}
    call('ZCARD', keys[1])
    if number ~= a[3] then
        return 0
    end
    for id in string.gmatch(taken, '%S+') do
        ids[#ids + 1] = id
    end
    for i = #ids, 1, -1 do
        local key = T .. 't:' .. ids[i]
        local h = try('HMGET', key, 'wk', 'n', 's')
        if h[3] == 'x' then
            abandon(T, ids[i], load(key, try))
        elseif h[1] == a[2] and call('ZSCORE', keys[1], ids[i])
            and give_back(b, key, ids[i], h[2]) == 'OK' then
            gone[#gone + 1] = ids[i]
        end
    end
    if #gone > 0 then
        call('ZREM', keys[1], unpack(gone))
    end
    call('DEL', keys[2])
    return #gone
end)
