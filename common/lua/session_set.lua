-- session_set: what changes in a session after it was made: `in` initialized, `lv` log level.
--   KEYS  se:sid
--   ARGV  T sid field value
--   returns 1, or 0 when there is no such session or field
define('session_set', WORKS, function(keys, a)
    local old = call('HMGET', keys[1], 'o', a[3])
    if not old[1] or (a[3] ~= 'in' and a[3] ~= 'lv') then
        return 0
    elseif old[2] ~= a[4] then
        call('HSET', keys[1], a[3], a[4])
    end
    return 1
end)
