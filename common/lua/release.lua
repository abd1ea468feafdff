-- release: a draining worker hands jobs back unfinished, to the head of their queues; the attempt
-- is not charged.
--   KEYS  ls t:id...
--   ARGV  T (id fence)...
--   returns verdicts
define('release', WORKS, function(keys, a, T)
    local verdicts, gone = {}, {}
    local b = batch(T, now(), {})
    call('ZCARD', keys[1])
    for i = 2, #keys do
        local id = a[2 * i - 2]
        verdicts[i - 1] = give_back(b, keys[i], id, a[2 * i - 1])
        if verdicts[i - 1] == 'OK' then
            gone[#gone + 1] = id
        end
    end
    if #gone > 0 then
        call('ZREM', keys[1], unpack(gone))
    end
    return verdicts
end)
