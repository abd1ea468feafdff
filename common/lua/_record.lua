-- A task as it is read, who may act on it, and who is told when it changes.

-- Places of the fields in what load answers; load_end reads those of the first two lines.
local STATE, FENCE, VERSION, OWNER, WAITING, SESSION, VIS, MESSAGE, ASKED = 1, 2, 3, 4, 5, 6, 7, 8, 9
local DIA, CREATED, EXPIRES, POLL, SEQ, TOOL, PROGRESS = 10, 11, 12, 13, 14, 15, 16
local ISERR, UPDATED, TRIED, ATTEMPTS, CLASS_OF, WORKER = 17, 18, 19, 20, 21, 22

local ENDED = {r = true, e = true, x = true}
local INLINE = 16384 -- a larger outcome is not sent along

-- What most tasks have is not stored: fence 0, version 1, vis t, and ut while it equals ct.
local function fill(h)
    h[FENCE], h[VERSION], h[VIS] = h[FENCE] or '0', h[VERSION] or '1', h[VIS] or 't'
    h[UPDATED] = h[UPDATED] or h[CREATED]
    return h
end

local function load(key, read)
    return fill((read or call)('HMGET', key, 's', 'n', 'v', 'o', 'wb', 'ss', 'vis', 'm', 'io',
        'dia', 'ct', 'xp', 'pi', 'sq', 'q', 'pg', 'ie', 'ut', 'tr', 'mx', 'c', 'wk'))
end

-- What the end of a task needs.
local function load_end(key)
    return fill(try('HMGET', key, 's', 'n', 'v', 'o', 'wb', 'ss', 'vis', 'm', 'io',
        'dia', 'ct', 'xp', 'pi', 'sq', 'q', 'pg'))
end

-- The row of a task: 16 strings, the outcome false when it is not given.
local function row(id, h, outcome)
    return {id, h[STATE], h[ISERR] or '', h[VIS], h[DIA], h[CREATED], h[UPDATED], h[EXPIRES],
            h[POLL] or '', h[VERSION], h[SEQ], h[MESSAGE] or '', h[PROGRESS] or '', h[TOOL],
            h[SESSION] or '', outcome or false}
end

-- nil when this attempt still holds the task, else the verdict on the caller. Fence 0 is nobody's.
local function verdict(h, fence)
    if not h[STATE] then
        return 'GONE'
    elseif ENDED[h[STATE]] then
        return h[FENCE] == fence and 'DONE' or 'ENDED'
    elseif h[FENCE] ~= fence or fence == '0' then
        return 'STALE'
    end
end

-- Adds a process to the comma separated list of those that wait; at most 8, the oldest goes.
-- Returns the list and who went; nil when it stands there already.
local function join(waiting, process)
    if not waiting or waiting == '' then
        return process
    elseif string.find(',' .. waiting .. ',', ',' .. process .. ',', 1, true) then
        return nil
    end
    local _, commas = string.gsub(waiting, ',', '')
    local gone
    if commas >= 7 then
        gone, waiting = string.match(waiting, '^([^,]*),(.*)$')
    end
    return waiting .. ',' .. process, gone
end

-- Registers a process as waiting, unless there is nothing left to wait for. One that has to make
-- room for it is told, and asks again a little later.
local function register(T, id, h, process)
    if process == '' or ENDED[h[STATE]] then
        return
    end
    local waiting, gone = join(h[WAITING], process)
    if waiting then
        call('HSET', T .. 't:' .. id, 'wb', waiting)
    end
    if gone then
        send(T, gone, 'O ' .. id)
    end
end

-- Where the session of a task hears of its status, if the task may be seen there: its newest GET
-- stream, and that one's record.
local function watcher(T, h)
    if not h[SESSION] or h[VIS] == 'c' then
        return nil
    end
    local gs = try('HGET', T .. 'se:' .. h[SESSION], 'gs')
    local r = type(gs) == 'string' and stream_of(T, gs)
    if r then
        return gs, r
    end
end

-- The message that a task changed, up to the lengths.
local function head_of(id, h)
    return 'T ' .. h[STATE] .. ' ' .. (h[ISERR] or '0') .. ' ' .. h[VIS] .. ' ' .. h[DIA] .. ' '
        .. h[CREATED] .. ' ' .. h[UPDATED] .. ' ' .. h[EXPIRES] .. ' ' .. (h[POLL] or '0') .. ' '
        .. h[VERSION] .. ' ' .. h[SEQ] .. ' ' .. id .. ' ' .. h[TOOL] .. ' ' .. (h[SESSION] or '-')
end

-- The rest of it, from the lengths on, with an outcome that is not too large.
local function tail_of(h, outcome, max)
    local m, pg, r, length = h[MESSAGE] or '', h[PROGRESS] or '', '', '-1'
    if outcome and #outcome > max then
        length = '-2'
    elseif outcome then
        r, length = outcome, #outcome
    end
    return #m .. ' ' .. #pg .. ' ' .. length .. '\n' .. m .. pg .. r
end

-- Tells the processes that wait for the task, and its session: on its stream, which keeps the
-- status without the outcome.
local function tell(T, id, h, outcome)
    local st, r = watcher(T, h)
    if not st and not h[WAITING] then
        return
    end
    local head = head_of(id, h) .. ' '
    if h[WAITING] then
        local message = head .. tail_of(h, outcome, INLINE)
        for process in string.gmatch(h[WAITING], '[^,]+') do
            send(T, process, message)
        end
    end
    if st then
        post(T, st, r[HOLDER], 't', string.sub(head, 3) .. tail_of(h, outcome, -1))
    end
end

-- Marks a visible change in h; what the caller writes together with its own fields.
local function touch(h, t)
    h[UPDATED], h[VERSION] = text(t), text(h[VERSION] + 1)
    return h[UPDATED], h[VERSION]
end
