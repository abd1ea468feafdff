-- leave: a worker goes in good order; its tools stay listed for the grace period only.
--   KEYS  w:wid ws tools seen tv
--   ARGV  G wid
--   returns 1
define('leave', WORKS, function(keys, a, G)
    call('ZCARD', keys[2])
    call('GET', keys[5])
    call('DEL', keys[1])
    call('ZREM', keys[2], a[2])
    call('INCR', keys[5])
    send_all(G, 'L')
    return 1
end)
