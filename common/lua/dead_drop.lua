-- dead_drop: forgets a dead letter.
--   KEYS  dq
--   ARGV  T entry
--   returns 1 or 0
define('dead_drop', WORKS, function(keys, a)
    return call('XDEL', keys[1], a[2])
end)
