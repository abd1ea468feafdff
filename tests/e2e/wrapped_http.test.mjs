// An MCP server over Streamable HTTP as a worker's tools: sessions, streams that break off, questions
// on the stream of their call, and the end.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { World, sleep, until } from '../lib/errand.mjs';

const w = new World();
let broker;
let worker;
let c;

// --- the server ---

const sessions = new Map(); // id -> { get: response or undefined }
const seen = []; // { verb, headers, message }
const waiting = new Map(); // id of our request -> what to do with the answer
const parted = new Map(); // event id -> what comes after it
let count = 0;
let refuse = 0; // so many answers to our questions
let names = ['echo', 'talk', 'ask', 'part', 'lose', 'slow', 'busy'];
let port;

const event = (res, m, id) => res.write(`${id ? `id: ${id}\n` : ''}event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...m })}\n\n`);
const text = (t) => ({ content: [{ type: 'text', text: t }] });
const json = (res, m, headers = {}) => {
  res.writeHead(200, { 'content-type': 'application/json; charset=utf-8', ...headers });
  res.end(JSON.stringify({ jsonrpc: '2.0', ...m }));
};
const stream = (res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.flushHeaders();
};

const calls = {
  echo: (res, m, line) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(`{"jsonrpc":"2.0","id":${m.id},"result":{"content":[],"structuredContent":${/"arguments":(\{.*\}),"_meta"/.exec(line)[1]}}}`);
  },
  talk: (res, m) => {
    stream(res);
    const { progressToken } = m.params._meta;
    event(res, { method: 'notifications/progress', params: { progressToken, progress: 1, message: 'half' } });
    event(res, { method: 'notifications/message', params: { level: 'error', data: 'uh' } });
    setTimeout(() => {
      event(res, { id: m.id, result: text('talked') });
      res.end();
    }, 300);
  },
  ask: (res, m) => {
    stream(res);
    count += 1;
    waiting.set(count, (answer) => {
      event(res, { id: m.id, result: text(JSON.stringify(answer)) });
      res.end();
    });
    event(res, { id: count, method: 'elicitation/create', params: { message: m.params.arguments.q, requestedSchema: { type: 'object', properties: { n: { type: 'integer' } } } } });
  },
  part: (res, m) => { // breaks off after an event with an id; the rest is there for who comes back
    stream(res);
    count += 1;
    const id = `e${count}`;
    res.write(`id: ${id}\nretry: 100\ndata: \n\n`);
    parted.set(id, (again) => {
      event(again, { id: m.id, result: text('whole') });
      again.end();
    });
    setTimeout(() => res.destroy(), 50);
  },
  lose: (res) => { // a stream without ids that breaks off
    stream(res);
    setTimeout(() => res.destroy(), 50);
  },
  slow: (res) => { // and nothing more, until who waits goes
    stream(res);
    res.on('close', () => seen.push({ verb: 'CLOSED' }));
  },
  busy: (res) => {
    res.writeHead(503);
    res.end('no');
  },
};

function post(req, res, body) {
  const m = JSON.parse(body);
  const id = req.headers['mcp-session-id'];
  seen.push({ verb: 'POST', headers: req.headers, message: m });
  if (m.method === 'initialize') {
    const session = `s-${sessions.size}`;
    sessions.set(session, {});
    json(res, { id: m.id, result: { protocolVersion: '2025-06-18', capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'h', version: '1' } } }, { 'mcp-session-id': session });
  } else if (!sessions.has(id)) {
    res.writeHead(404);
    res.end();
  } else if (m.method === undefined && refuse > 0) {
    refuse -= 1;
    res.writeHead(503);
    res.end();
  } else if (m.method === undefined) {
    res.writeHead(202);
    res.end();
    waiting.get(m.id)?.(m.result ?? m.error);
  } else if (m.id === undefined) {
    res.writeHead(202);
    res.end();
  } else if (m.method === 'tools/list') {
    json(res, { id: m.id, result: { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) } });
  } else {
    calls[m.params.name](res, m, body);
  }
}

const server = http.createServer((req, res) => {
  let body = '';
  req.on('data', (d) => { body += d; });
  req.on('end', () => {
    const session = sessions.get(req.headers['mcp-session-id']);
    if (req.method === 'POST') {
      post(req, res, body);
      return;
    }
    seen.push({ verb: req.method, headers: req.headers });
    const last = req.headers['last-event-id'];
    if (req.method === 'DELETE') {
      sessions.delete(req.headers['mcp-session-id']);
      res.writeHead(200);
      res.end();
    } else if (!session) {
      res.writeHead(404);
      res.end();
    } else if (last && parted.has(last)) {
      stream(res);
      parted.get(last)(res);
    } else {
      stream(res);
      session.get = res;
    }
  });
});

// --- the tests ---

before(async () => {
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  ({ port } = server.address());
  await w.startRedis();
  broker = await w.startBroker({ args: ['--rate', '0'] });
  worker = await w.startWorker({
    tools: { mcpServers: { h: { type: 'http', url: `http://127.0.0.1:${port}/mcp`, prefix: 'h_', headers: { Authorization: 'Bearer ${env:REMOTE}' }, tools: { slow: { grace: '200ms' } } } } },
    args: ['--slots', '8'],
    env: { REMOTE: 'hush-hush' },
  });
  c = await w.connect(broker, { tool: 'h_echo', capabilities: { elicitation: {} } });
});
after(async () => {
  await w.stop();
  server.closeAllConnections?.();
  server.close();
});

const call = (name, args = {}, options = {}) => c.result('tools/call', { name, arguments: args }, options);
const first = (r) => r.content[0].text;

test('the session, the version and the headers of the file are sent; the secret is nowhere else', async () => {
  await until('the first stream is open', () => seen.some((s) => s.verb === 'GET'));
  const [hello, ...others] = seen;
  assert.equal(hello.message.method, 'initialize');
  assert.equal(hello.headers['mcp-session-id'], undefined);
  assert.match(hello.headers.accept, /application\/json.*text\/event-stream/);
  for (const s of others) {
    assert.equal(s.headers['mcp-session-id'], 's-0');
    assert.equal(s.headers['mcp-protocol-version'], '2025-06-18');
    assert.equal(s.headers.authorization, 'Bearer hush-hush');
  }
  assert.ok(!worker.log.includes('hush-hush'));
  for (const key of await w.keys()) assert.ok(!String(await w.db.call('DUMP', key)).includes('hush-hush'), key);
});

test('arguments and results pass byte for byte', async () => {
  const args = '{"n":12345678901234567890, "a":1.50}';
  const r = await c.post(`{"jsonrpc":"2.0","id":900,"method":"tools/call","params":{"name":"h_echo","arguments":${args}}}`);
  assert.ok(r.text.includes(`"structuredContent":${args}`), r.text);
});

test('progress and log lines come from the stream of the call', async () => {
  const got = [];
  const r = await c.result('tools/call', { name: 'h_talk', arguments: {}, _meta: { progressToken: 3 } }, { onMessage: (m) => got.push(m) });
  assert.equal(first(r), 'talked');
  assert.equal(got.find((m) => m.method === 'notifications/progress').params.message, 'half');
  assert.equal(got.find((m) => m.method === 'notifications/message').params.data, 'uh');
});

test('questions of calls side by side reach the client of each, by the stream they come on', async () => {
  const ask = (n) => call('h_ask', { q: `q${n}` }, {
    onMessage: (m) => {
      if (m.method !== 'elicitation/create') return;
      void c.post(JSON.stringify({ jsonrpc: '2.0', id: m.id, result: { action: 'accept', content: { n: Number(m.params.message.slice(1)) } } }));
    },
  });
  const all = await Promise.all([1, 2, 3].map(ask));
  assert.deepEqual(all.map((r) => JSON.parse(first(r)).content.n), [1, 2, 3]);
});

test('an answer that the server does not take at once is sent again', async () => {
  refuse = 1;
  const r = await call('h_ask', { q: 'q7' }, {
    onMessage: (m) => {
      if (m.method !== 'elicitation/create') return;
      void c.post(JSON.stringify({ jsonrpc: '2.0', id: m.id, result: { action: 'accept', content: { n: 7 } } }));
    },
  });
  assert.equal(JSON.parse(first(r)).content.n, 7);
  assert.equal(refuse, 0);
});

test('a stream that breaks off is taken up again where it was', async () => {
  assert.equal(first(await call('h_part')), 'whole');
});

test('a stream that cannot be taken up again fails the call with a clear message', async () => {
  const { error } = await c.request('tools/call', { name: 'h_lose', arguments: {} });
  assert.match(error.message, /the MCP server "h" went away during the call: the stream of its answer broke off/);
  const busy = await c.request('tools/call', { name: 'h_busy', arguments: {} });
  assert.match(busy.error.message, /HTTP status 503/);
});

test('a cancelled call is told to the server, and its request is given up after the grace', async () => {
  const { task } = await c.result('tools/call', { name: 'h_slow', arguments: {}, task: {} });
  await until('it is under way', () => seen.some((s) => s.message?.params?.name === 'slow'));
  await c.result('tasks/cancel', { taskId: task.taskId });
  await until('the server was told', () => seen.some((s) => s.message?.method === 'notifications/cancelled'));
  await until('the request is gone', () => seen.some((s) => s.verb === 'CLOSED'));
});

test('a tool that comes later is listed at once: list_changed on the open stream', async () => {
  names = [...names, 'later'];
  const open = [...sessions.values()].find((s) => s.get);
  event(open.get, { method: 'notifications/tools/list_changed' });
  await until('it is listed', async () => (await c.result('tools/list')).tools.some((t) => t.name === 'h_later'));
});

test('a session that the server does not know any more is begun anew', async () => {
  sessions.clear();
  const lost = await c.request('tools/call', { name: 'h_echo', arguments: {} });
  assert.match(lost.error.message, /session/);
  await until('there is another session', () => sessions.size === 1);
  await until('calls go through', async () => (await c.request('tools/call', { name: 'h_echo', arguments: { a: 1 } })).result);
});

test('a server that is away comes back, and its tools stay listed meanwhile', async () => {
  server.closeAllConnections();
  await new Promise((resolve) => { server.close(resolve); });
  await sleep(300);
  assert.ok((await c.result('tools/list')).tools.some((t) => t.name === 'h_echo'));
  await new Promise((resolve) => { server.listen(port, '127.0.0.1', resolve); });
  await until('calls go through', async () => (await c.request('tools/call', { name: 'h_echo', arguments: { a: 1 } })).result);
});

test('at its end the worker deletes the session', async () => {
  worker.signal('SIGTERM');
  assert.equal(await worker.ended, 0);
  assert.equal(seen.at(-1).verb, 'DELETE');
  assert.equal(sessions.size, 0);
});
