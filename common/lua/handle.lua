-- handle: what the runner needs to find its outside work again; a later attempt is given it.
--   KEYS  t:id
--   ARGV  T id fence handle
--   returns a verdict
define('handle', WORKS, function(keys, a)
    local h = load(keys[1])
    local v = verdict(h, a[3])
    if v then
        return v
    elseif a[4] == '' then
        call('HDEL', keys[1], 'hd')
    else
        call('HSET', keys[1], 'hd', a[4])
    end
    return 'OK'
end)
