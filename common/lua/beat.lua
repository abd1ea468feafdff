-- beat: renews the leases of all the jobs a worker holds.
--   KEYS  ls t:id...
--   ARGV  T wid lease (id fence)...
--   returns the ids to abandon: ended, expired, or held by another attempt
define('beat', WORKS, function(keys, a)
    local lost, leases = {}, {}
    local till = now() + a[3]
    call('ZCARD', keys[1])
    for i = 2, #keys do
        local id, fence = a[2 * i], a[2 * i + 1]
        local h = try('HMGET', keys[i], 's', 'n')
        if h[1] and not ENDED[h[1]] and h[2] == fence and fence ~= '0' then
            leases[#leases + 1] = till
            leases[#leases + 1] = id
        else
            lost[#lost + 1] = id
        end
    end
    if #leases > 0 then
        call('ZADD', keys[1], unpack(leases))
    end
    return lost
end)
