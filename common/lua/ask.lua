-- ask: a question of a running job; it waits for input until every question is answered.
--   KEYS  t:id ls
--   ARGV  T id fence key method params hosted
--   returns {'OK'}; {'ANSWERED', answer} when the same was asked and answered before, as by an
--           earlier attempt; {'CONFLICT'} when the key stands for another request, or cannot be a
--           key; {'LIMIT'} when the task has too many questions; {verdict}
-- io holds the keys this attempt waits for, one a line. hosted 1: the client makes a task of it, so
-- its answer is not the end of it, and the job is given that answer but waits on (see unask).
local FIELDS_MAX = 900

-- Notes that this attempt waits for a question; says whether that is news.
local function wait_for(key, h, q, t)
    if has_line(h[ASKED], q.name) then
        return false
    end
    local ut, version = touch(h, t)
    h[STATE] = 'i'
    h[ASKED] = (h[ASKED] or '') == '' and q.name or h[ASKED] .. '\n' .. q.name
    call('HSET', key, 's', 'i', 'ut', ut, 'v', version, 'io', h[ASKED], 'q:' .. q.name, q.asked)
    return true
end

-- Sends it, unless the stream that would carry it has it already.
local function send_question(T, id, h, q)
    local st, r = carrier(T, id, h)
    if st and st ~= q.stream then
        put_question(T, id, h, q, st, r, r[HOLDER])
    end
end

define('ask', WORKS, function(keys, a, T)
    local key, id, h = keys[1], a[2], load(keys[1])
    local v = verdict(h, a[3])
    if v then
        return {v}
    end
    local q, request = question(key, a[4]), a[7] .. ' ' .. a[5] .. '\n' .. a[6]
    local has_answer, hosted_now = q.answer, is_hosted_now(q)
    if (q.asked and q.asked ~= request) or a[4] == '' or string.find(a[4], '\n', 1, true) then
        return {'CONFLICT'}
    elseif has_answer and not hosted_now then
        return {'ANSWERED', q.answer}
    elseif not q.asked and call('HLEN', key) > FIELDS_MAX then
        return {'LIMIT'}
    end
    local t = now()
    q.asked, q.hosted = request, a[7] == '1'
    if wait_for(key, h, q, t) then
        if h[DIA] == 'L' and not has_answer then
            send_question(T, id, h, q)
        end
        tell(T, id, h)
    end
    return has_answer and {'ANSWERED', q.answer} or {'OK'}
end)
