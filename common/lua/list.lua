-- list: an owner's tasks in the order of their creation, after a sequence number.
--   KEYS  o:oh rl:oh
--   ARGV  T oh after_seq count rate
--   returns {'OK', more, row...} without outcomes; {'RATE', ms}
-- Members whose task has expired are skipped and removed. More than 1024 of them in a row end the
-- page early, with more = 1, possibly without any row: the next call goes on from there.

-- Reads one stretch of members into `rows`, at most max; says whether there was a row too many.
local function stretch(T, members, rows, max)
    local dead, full = {}, false
    for i = 1, #members do
        local h = load(T .. 't:' .. members[i], try)
        if not h[STATE] then
            dead[#dead + 1] = members[i]
        elseif #rows == max then
            full = true
            break
        else
            rows[#rows + 1] = row(members[i], h)
        end
    end
    return dead, full
end

define('list', WORKS, function(keys, a, T)
    local index, max, after, looked = keys[1], math.min(tonumber(a[4]), BATCH), a[3], 0
    call('ZCARD', index)
    local over = over_rate(keys[2], a[5], now_us())
    if over then
        return over
    end
    local rows = {}
    while looked < 1024 do
        local members = call('ZRANGE', index, '(' .. after, '+inf', 'BYSCORE', 'LIMIT', 0, max + 1)
        if #members == 0 then
            return {'OK', '0', unpack(rows)}
        end
        looked = looked + #members
        after = call('ZSCORE', index, members[#members])
        local dead, full = stretch(T, members, rows, max)
        if #dead > 0 then
            call('ZREM', index, unpack(dead))
        end
        if full then
            return {'OK', '1', unpack(rows)}
        end
    end
    return {'OK', '1', unpack(rows)}
end)
