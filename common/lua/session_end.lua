-- session_end: ends a session for every broker at once; its tasks live on,
-- what it watched does not.
--   KEYS  se:sid wt:sid so:oh
--   ARGV  T sid oh
--   returns 1 or 0
define('session_end', WORKS, function(keys, a, T)
    if call('HGET', keys[1], 'o') ~= a[3] then
        return 0
    end
    drop_session(T, keys[3], a[2])
    return 1
end)
