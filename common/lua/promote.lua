-- promote: a plain call that takes longer becomes a task that its client may name.
--   KEYS  t:id o:oh
--   ARGV  T id oh
--   returns {'OK', row}; {'ENDED', row} when it has ended, and stays hidden; false
-- Done again it changes nothing.
define('promote', WORKS, function(keys, a, T)
    local key, id, h = keys[1], a[2], load(keys[1])
    call('ZCARD', keys[2])
    if h[OWNER] ~= a[3] then
        return false
    elseif ENDED[h[STATE]] then
        return {'ENDED', row(id, h)}
    elseif h[VIS] == 't' then
        return {'OK', row(id, h)}
    end
    local ut, v = touch(h, now())
    h[VIS] = 't'
    call('HSET', key, 'vis', 't', 'ut', ut, 'v', v)
    call('ZADD', keys[2], h[SEQ], id)
    tell(T, id, h)
    return {'OK', row(id, h)}
end)
