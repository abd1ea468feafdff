-- What a running job says to its client, and what it asks: on which stream, in which words.
--
-- Fields of the task: hs the stream that holds its messages, sl the one reserved for a plain call,
-- q:<key> a question as `<hosted> <method>\n<params>`, a:<key> its answer, and w:<key> where it was
-- sent: `<n> <stream> <session>...`, the session of the last id at the end; `<n>` alone: nobody may
-- answer any more.

local RESERVED_MS = 600000 -- how long a stream lives that its process has not opened yet
local SENT_MAX = 8         -- sessions that one question is known to have been sent to

local RELATED = ',"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"'

-- The member of a message's params that names the task, for whoever may know it.
local function related(id, h)
    return h[VIS] == 't' and h[DIA] == 'L' and RELATED .. id .. '"}}' or ''
end

local function quote(s)
    return '"' .. string.gsub(s, '[%c"\\]', function(c)
        return format('\\u%04x', string.byte(c))
    end) .. '"'
end

-- The stream of a plain call that its process has not opened yet, or lost.
local function reserved(T, id, h, st, request)
    local r = stream_of(T, st)
    if not r then
        local holder = string.match(h[WAITING] or '', '^[^,]+') or ''
        r = {'c', h[SESSION] or '', h[OWNER], holder, id, request or ''}
        if not write_stream(T .. 'sm:' .. st, r, life(T, id, RESERVED_MS)) then
            return nil
        end
    end
    call('HSET', T .. 't:' .. id, 'hs', st)
    return st, r
end

-- The stream that carries what a task says now, and its record; nil when there is none. A listed
-- task of the stateless dialect has none: its client polls.
local function carrier(T, id, h)
    if h[DIA] == 'M' and h[VIS] == 't' then
        return nil
    end
    local s = call('HMGET', T .. 't:' .. id, 'hs', 'sl', 'ri')
    local r = s[1] and stream_of(T, s[1])
    if r then
        return s[1], r
    elseif s[2] and h[VIS] == 'c' then
        return reserved(T, id, h, s[2], s[3])
    elseif not h[SESSION] then
        return nil
    end
    local gs = try('HGET', T .. 'se:' .. h[SESSION], 'gs')
    r = type(gs) == 'string' and stream_of(T, gs)
    if r then
        return gs, r
    end
end

-- Says something in the name of a task; whether there was a stream for it.
local function say(T, id, h, message)
    local st, r = carrier(T, id, h)
    return st and post(T, st, r[HOLDER], 'd', message) or false
end

-- --- questions ---

local function question(key, name)
    local f = call('HMGET', key, 'q:' .. name, 'a:' .. name, 'w:' .. name)
    local n, st, sessions = string.match(f[3] or '', '^(%d+) ?(%S*)(.*)$')
    return {name = name, asked = f[1], answer = f[2], hosted = string.sub(f[1] or '', 1, 1) == '1',
            n = tonumber(n or 0), stream = st or '', sessions = sessions or ''}
end

local function was_sent_to(q, session)
    return string.find(q.sessions .. ' ', ' ' .. session .. ' ', 1, true) ~= nil
end

-- Is the client at work on it: does it host the task that is to bring the answer?
local function is_hosted_now(q)
    return q.hosted and q.answer and q.sessions ~= ''
end

local function each_line(lines)
    return string.gmatch(lines or '', '[^\n]+')
end

local function has_line(lines, line)
    return string.find('\n' .. (lines or '') .. '\n', '\n' .. line .. '\n', 1, true) ~= nil
end

local function without(lines, line)
    local rest = {}
    for l in each_line(lines) do
        if l ~= line then
            rest[#rest + 1] = l
        end
    end
    return table.concat(rest, '\n')
end

local function id_of(id, q)
    return quote(id .. '/' .. q.name .. '/' .. text(q.n))
end

-- Tells the client that the id it was asked under last is not to be answered. An id means nothing
-- to another session than the one it was sent to, and one that made a task of it cannot take it
-- back so.
local function withdraw(T, id, h, q, st, r, holder)
    if q.answer or q.hosted or string.match(q.sessions, '%S+$') ~= r[SESSION_OF] then
        return
    end
    post(T, st, holder, 'd', '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{'
        .. '"requestId":' .. id_of(id, q) .. related(id, h) .. '}}')
end

-- Sends a question under a fresh id. holder: who is told, '' nobody.
local function put_question(T, id, h, q, st, r, holder)
    local session = r[SESSION_OF]
    if session == '' then
        return
    end
    withdraw(T, id, h, q, st, r, holder)
    q.n = q.n + 1
    local method, params = string.match(q.asked, '^. ([^\n]*)\n(.*)$')
    if not post(T, st, holder, 'd', '{"jsonrpc":"2.0","id":' .. id_of(id, q) .. ',"method":'
        .. quote(method) .. (params ~= '' and ',"params":' .. params or '') .. '}') then
        return
    end
    local sessions = {}
    for s in string.gmatch(q.sessions, '%S+') do
        if s ~= session then
            sessions[#sessions + 1] = s
        end
    end
    sessions[#sessions + 1] = session
    call('HSET', T .. 't:' .. id, 'w:' .. q.name, text(q.n) .. ' ' .. st .. ' '
        .. table.concat(sessions, ' ', math.max(1, #sessions - SENT_MAX + 1)))
end

-- Sends on its new stream every unanswered question that was not sent there yet; all: those too.
-- Its process reads them itself.
local function ask_again(T, id, h, st, r, all)
    if h[DIA] ~= 'L' or ENDED[h[STATE]] then
        return
    end
    for name in each_line(h[ASKED]) do
        local q = question(T .. 't:' .. id, name)
        if q.asked and not q.answer and (all or q.stream ~= st) then
            put_question(T, id, h, q, st, r, '')
        end
    end
end

-- The client's own task that was to answer a question is not needed any more.
local function cancel_hosted(T, id, key, q, st, r)
    local fine, answer = pcall(cjson.decode, q.answer)
    local result = fine and type(answer) == 'table' and (answer.result or answer)
    local task = type(result) == 'table' and result.task
    local caps = call('HGET', key, 'cc')
    if type(task) ~= 'table' or type(task.taskId) ~= 'string' or not was_sent_to(q, r[SESSION_OF])
        or not string.find(caps or '', '"cancel"', 1, true) then
        return
    end
    q.n = q.n + 1
    post(T, st, r[HOLDER], 'd', '{"jsonrpc":"2.0","id":' .. id_of(id, q)
        .. ',"method":"tasks/cancel","params":{"taskId":' .. quote(task.taskId) .. '}}')
end

-- The task ends: nobody waits for what it asked under these keys.
local function withdraw_all(T, id, h, names)
    local key, st, r = T .. 't:' .. id, nil, nil
    for i = 1, #names do
        local q = question(key, names[i])
        if q.sessions ~= '' and not st then
            st, r = carrier(T, id, h)
        end
        if st and is_hosted_now(q) then
            cancel_hosted(T, id, key, q, st, r)
        elseif st then
            withdraw(T, id, h, q, st, r, r[HOLDER])
        end
    end
end
