-- serve: a pool of workers serves these tools in this partition.
--   KEYS  pl:tool...
--   ARGV  T pool tool...
--   returns 'OK'
-- Written at most once a minute; pools that have not said so for an hour are dropped.
define('serve', WORKS, function(keys, a)
    local t, due = now(), {}
    for i = 1, #keys do
        local at = call('ZSCORE', keys[i], a[2])
        if not at or t - at > 60000 then
            due[#due + 1] = keys[i]
        end
    end
    for i = 1, #due do
        call('ZADD', due[i], t, a[2])
        call('ZREMRANGEBYSCORE', due[i], '-inf', t - HOUR)
        call('PEXPIRE', due[i], 2 * HOUR)
    end
    return 'OK'
end)
