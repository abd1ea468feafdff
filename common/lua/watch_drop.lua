-- watch_drop: a session is not to be told of a resource any more.
--   KEYS  wt:sid wu:uri
--   ARGV  T sid uri
--   returns 1, or 0 when it was not
define('watch_drop', WORKS, function(keys, a)
    call('HLEN', keys[1])
    call('ZREM', keys[2], a[2])
    return call('HDEL', keys[1], a[3])
end)
