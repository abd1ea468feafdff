-- throttle: counts an operation that is worth `count` of them against a principal's rate.
--   KEYS  rl:oh
--   ARGV  T oh rate count
--   returns {'OK'} or {'RATE', ms}
define('throttle', WORKS, function(keys, a)
    return over_rate(keys[1], a[3], now_us(), tonumber(a[4])) or {'OK'}
end)
