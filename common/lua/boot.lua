-- boot: the record of the installation; made by the first process that comes.
--   KEYS  conf
--   ARGV  G partitions secret
--   returns {partitions, secret, made}: what is stored, and 1 when this call made it
-- partitions 0 means 1 when there are none yet; secret '' stores none.
define('boot', WORKS, function(keys, a)
    local conf = call('HMGET', keys[1], 'partitions', 'secret')
    local made = not conf[1]
    if made then
        conf[1] = a[2] == '0' and '1' or a[2]
        call('HSET', keys[1], 'partitions', conf[1], 'made', text(now()))
    end
    if not conf[2] and a[3] ~= '' then
        conf[2] = a[3]
        call('HSET', keys[1], 'secret', conf[2])
    end
    return {conf[1], conf[2] or '', made and '1' or '0'}
end)
