// API keys: family B24, and B11 for what must not be found anywhere.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { World, busy, lines, processes, ran, sleep, until } from '../lib/errand.mjs';
import { exchange } from '../lib/client.mjs';
import { Modern } from '../lib/modern.mjs';
import { Redis } from '../lib/resp.mjs';

const w = new World();
let a;
let b;
let worker;

const base = { description: 'A tool.', inputSchema: { type: 'object' } };
const tools = {
  tools: [
    { ...base, name: 'whoami', run: { command: ['sh', '-c', 'echo "$ERRAND_PRINCIPAL"'] } },
    { ...base, name: 'inside', run: { command: ['sh', '-c', 'env; tr "\\0" "\\n" <"/proc/$$/cmdline"; cat'] } },
    { ...base, name: 'slow', run: { command: ['sh', '-c', 'echo start >>"$1"; if [ "$2" = told ]; then while [ ! -e "$1.go" ]; do sleep 0.05; done; else sleep "$2"; fi; echo "$ERRAND_PRINCIPAL"', 'sh', '{file}', '{seconds}'] } },
  ],
};

before(async () => {
  await w.startRedis();
  const args = ['--rate', '0', '--auth', 'key', '--log-level', 'debug'];
  [a, b] = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  worker = await w.startWorker({ tools, args: ['--slots', '8', '--log-level', 'debug'] });
});
after(() => w.stop());

let names = 0;
async function user(...options) {
  const name = `user${names++}`;
  const key = await w.newKey(name, ...options);
  return Object.assign(await w.connect(a, { key, tool: 'whoami' }), { name });
}
const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
const text = (r) => r.content[0].text.trim();

// One request with any Authorization, on any verb.
const knock = (broker, method, authorization, more = {}) => exchange(broker.url, {
  method,
  headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...(authorization ? { authorization } : {}), ...more },
  body: method === 'POST' ? ping : undefined,
});

function unauthorized(r, what) {
  assert.equal(r.status, 401, what);
  assert.match(r.headers['www-authenticate'], /^Bearer /, what);
  assert.equal(r.headers['mcp-session-id'], undefined);
  assert.equal(JSON.parse(r.body.toString()).error.code, -32600, what);
}

test('B24 A-06 A-07 A-08 A-09 H-05: without a key, or with a bad one, every verb is 401 with a challenge, at every broker', async () => {
  const c = await user();
  const other = c.key.slice(0, -1) + (c.key.endsWith('A') ? 'B' : 'A');
  const bad = [undefined, 'Bearer', 'Bearer ', 'Bearer nope', `Bearer ${other}`, `Basic ${c.key}`, c.key, `Bearer ${c.key}x`, `Bearer ${c.key.toLowerCase()}`, `Bearer ${c.key} x`, `Bearer ${'A'.repeat(5000)}`];
  for (const value of bad) {
    for (const method of ['POST', 'GET', 'DELETE']) {
      for (const broker of [a, b]) unauthorized(await knock(broker, method, value, { 'mcp-session-id': c.session }), `${method} ${String(value).slice(0, 20)}`);
    }
  }
  assert.equal((await knock(a, 'POST', `Bearer ${c.key}`, { 'mcp-session-id': c.session })).status, 200);
  assert.equal((await knock(b, 'POST', `bearer ${c.key}`, { 'mcp-session-id': c.session })).status, 200, 'a scheme is taken in any case');
});

test('B24 A-12 S-12: every method is 401 without a key, before anything else is looked at', async () => {
  const c = await user();
  for (const method of ['initialize', 'ping', 'tools/list', 'tools/call', 'tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/list', 'nothing/here']) {
    const r = await c.request(method, { taskId: 'x' }, { headers: { authorization: undefined } });
    assert.equal(r.http.status, 401, method);
    assert.ok(r.http.headers['www-authenticate'], method);
  }
  const r = await c.post('this is no JSON', { headers: { authorization: undefined } });
  assert.equal(r.status, 401);
});

test('B24: an expired key is 401, though it was remembered a moment ago', async () => {
  const c = await user('--expires', '5s');
  const began = Date.now();
  await until('it has expired', async () => {
    const r = await c.at(Date.now() % 2 ? a : b).request('ping');
    if (r.http.status === 200) return false;
    assert.equal(r.http.status, 401);
    return true;
  }, 7000, 50);
  assert.ok(ran(began) < busy(6000));
  for (const broker of [a, b]) for (const method of ['POST', 'GET', 'DELETE']) unauthorized(await knock(broker, method, `Bearer ${c.key}`, { 'mcp-session-id': c.session }));
});

test('B24: a revoked key is refused at every broker within a second', async () => {
  const c = await user();
  await c.at(b).result('ping'); // both remember it
  assert.equal((await w.cli('key', 'revoke', '--name', c.name)).status, 0);
  const began = Date.now();
  for (const broker of [a, b]) await until('it is refused', async () => (await c.at(broker).request('ping')).http.status === 401, 1000);
  assert.ok(ran(began) < busy(1000));
  for (const broker of [a, b]) for (const method of ['POST', 'GET', 'DELETE']) unauthorized(await knock(broker, method, `Bearer ${c.key}`, { 'mcp-session-id': c.session }));
});

test('B24: a revocation bites within a second where messages from Redis are lost', async () => {
  const c = await user();
  await c.result('ping');
  const gone = w.cli('key', 'revoke', '--name', c.name);
  let over = false;
  const storm = (async () => {
    while (!over) {
      await w.db.call('CLIENT', 'KILL', 'TYPE', 'pubsub').catch(() => {});
      await sleep(2);
    }
  })();
  await gone;
  await until('it is refused', async () => (await c.request('ping')).http.status === 401, 1000);
  over = true;
  await storm;
});

test('B24: a new key of the same name goes on with the same tasks; the old one does not', async () => {
  const c = await user();
  const file = `${w.dir}/rotation`;
  const { taskId } = await c.createTask('slow', { file, seconds: 'told' });
  await until('it runs', () => lines(file).length === 1);
  assert.equal((await w.cli('key', 'revoke', '--name', c.name)).status, 0);
  const key = await w.newKey(c.name);
  assert.notEqual(key, c.key);
  const again = await w.connect(b, { key, tool: 'whoami' });
  assert.equal((await again.getTask(taskId)).status, 'working');
  assert.ok((await again.result('tasks/list')).tasks.some((t) => t.taskId === taskId));
  fs.writeFileSync(`${file}.go`, '');
  assert.equal(text(await again.result('tasks/result', { taskId })), c.name);
  assert.equal((await c.request('tasks/get', { taskId })).http.status, 401);
  // The session is the caller's, not the key's.
  assert.equal((await c.request('ping', undefined, { headers: { authorization: `Bearer ${key}` } })).http.status, 200);
});

test('B24: a key is rotated without a gap: both are good for the overlap, and then the new one', async () => {
  const c = await user('--scopes', 'tasks:read');
  const plain = await w.cli('key', 'new', '--name', c.name);
  assert.equal(plain.status, 1);
  assert.match(plain.err, /already; add --rotate for a further one in its place, or revoke it first/);
  const overlap = Math.ceil(busy(5));
  const before = Date.now();
  const key = await w.newKey(c.name, '--rotate', '--overlap', `${overlap}s`);
  const began = Date.now();
  const d = await w.connect(b, { key, tool: null });
  assert.equal((await c.request('ping')).http.status, 200);
  assert.equal((await d.request('tools/call', { name: 'whoami', arguments: {} })).http.status, 403, 'it may what it might');
  for (const broker of [a, b]) {
    await until('the one before has ended', async () => (await c.at(broker).request('ping')).http.status === 401, overlap * 1000 + 2000);
    assert.ok(Date.now() - before > overlap * 1000 - 100 && ran(began) < overlap * 1000 + busy(1500));
    assert.equal((await d.at(broker).request('ping')).http.status, 200);
  }
  const e = await w.newKey(c.name, '--rotate', '--overlap', '0', '--scopes', 'tools:call');
  await until('the second one has ended', async () => (await d.request('ping')).http.status === 401, 1000);
  assert.equal(text(await (await w.connect(a, { key: e, tool: null })).callTool('whoami')), c.name);
});

// All that a caller can have open for long, each at another broker or the same.
async function everythingOpen(c, m) {
  const { taskId } = await c.createTask('slow', { file: `${w.dir}/open`, seconds: '60' });
  const stream = await c.at(b).openStream();
  const heard = await m.listen({ taskIds: [taskId] });
  assert.equal(heard.status, 200);
  const ended = [];
  const open = (name, promise) => promise.then((r) => ended.push([name, r.http?.status]), (e) => ended.push([name, e.code ?? e.message]));
  open('tasks/result', c.request('tasks/result', { taskId }));
  open('a plain call', c.at(b).request('tools/call', { name: 'slow', arguments: { file: `${w.dir}/open`, seconds: '60' } }));
  await until('both wait', async () => (await w.metric(a, 'errand_waiters')) >= 1 && (await w.metric(b, 'errand_waiters')) >= 1);
  return { taskId, ended, over: () => ended.length === 2 && stream.closed && heard.closed };
}

for (const [what, end] of [
  ['it is revoked', (name) => w.cli('key', 'revoke', '--name', name)],
  ['another takes its place at once', (name) => w.newKey(name, '--rotate', '--overlap', '0')],
]) {
  test(`B24 A-15: what a key has open is closed within a second when ${what}, and nobody else's`, async () => {
    const c = await user();
    const other = await user();
    const stays = await other.openStream();
    const open = await everythingOpen(c, new Modern(a.url, { key: c.key, tasks: true }));
    await end(c.name);
    await until('all of it is closed', open.over, 1000, 5);
    assert.equal(stays.closed, false);
    const again = await w.connect(a, { key: what.includes('revoked') ? await w.newKey(c.name) : await w.newKey(c.name, '--rotate'), tool: null });
    assert.equal((await again.getTask(open.taskId)).status, 'working', 'the task goes on');
    await again.result('tasks/cancel', { taskId: open.taskId });
    stays.close();
  });
}

test('B24 A-15: what a key has open is closed within a second when it expires, though messages from Redis are lost', async () => {
  const c = await user('--expires', '7s');
  const born = Date.now();
  const open = await everythingOpen(c, new Modern(b.url, { key: c.key, tasks: true }));
  const d = await user();
  const lost = await d.at(b).openStream();
  const gone = w.cli('key', 'revoke', '--name', d.name);
  let over = false;
  const storm = (async () => {
    while (!over) {
      await w.db.call('CLIENT', 'KILL', 'TYPE', 'pubsub').catch(() => {});
      await sleep(2);
    }
  })();
  await gone;
  await until('what the revoked one had is closed', () => lost.closed, 1000, 5);
  await until('what the expired one had is closed', open.over, Math.max(0, born + 7000 - Date.now()) + 1000, 5);
  over = true;
  await storm;
  const again = await w.connect(a, { key: await w.newKey(c.name), tool: null });
  await again.result('tasks/cancel', { taskId: open.taskId });
});

test('B24 A-10 O-03 O-04: a key whose scopes do not reach is 403, names what is missing, and does nothing', async () => {
  const reader = await user('--scopes', 'tasks:read');
  const caller = await user('--scopes', 'tools:call');
  const admin = await user('--admin');
  const { taskId } = await caller.createTask('whoami');
  const expect = async (c, method, params, scope) => {
    const r = await c.request(method, params);
    if (!scope) {
      assert.equal(r.http.status, 200, `${method} ${JSON.stringify(r.error)}`);
      return;
    }
    assert.equal(r.http.status, 403, method);
    assert.equal(r.error.code, -32600);
    assert.match(r.http.headers['www-authenticate'], new RegExp(`insufficient_scope.*${scope}`));
  };
  for (const task of [undefined, {}]) {
    await expect(reader, 'tools/call', { name: 'whoami', arguments: {}, task }, 'tools:call');
    await expect(caller, 'tools/call', { name: 'whoami', arguments: {}, task });
    await expect(admin, 'tools/call', { name: 'whoami', arguments: {}, task });
  }
  await expect(reader, 'tasks/list', {});
  assert.deepEqual((await reader.result('tasks/list')).tasks, []);
  for (const method of ['tasks/get', 'tasks/result', 'tasks/list']) await expect(caller, method, { taskId }, 'tasks:read');
  await expect(reader, 'tools/list', {});
  await expect(caller, 'ping');
});

test('B11: each of two callers on one worker is itself', async () => {
  const c = await user();
  const d = await user();
  const all = await Promise.all(Array.from({ length: 20 }, async (_, i) => {
    const who = i % 2 ? c : d;
    assert.equal(text(await who.at(i % 3 ? a : b).callTool('whoami')), who.name);
  }));
  assert.equal(all.length, 20);
});

test('B11: a long task keeps its caller\'s name after the key has gone', async () => {
  const c = await user();
  const file = `${w.dir}/long`;
  const { taskId } = await c.createTask('slow', { file, seconds: 'told' });
  await until('it runs', () => lines(file).length === 1);
  await w.cli('key', 'revoke', '--name', c.name);
  const again = await w.connect(a, { key: await w.newKey(c.name), tool: 'whoami' });
  fs.writeFileSync(`${file}.go`, '');
  assert.equal(text(await again.result('tasks/result', { taskId })), c.name);
});

test('B24 B11 A-11 U-16: a key is in no log, in no command to Redis, in no value there, in no argv, and not with the job', async () => {
  const eye = new Redis(w.socket);
  const seen = await eye.monitor();
  const c = await user();
  const secrets = [c.key, c.key.slice(-30), Buffer.from(c.key).toString('base64').slice(0, 40)];
  const clear = (where, what) => {
    for (const s of secrets) assert.ok(!what.includes(s), `${where} has the key`);
  };
  const job = c.callTool('inside', { hello: 'x' });
  const file = `${w.dir}/argv`;
  const slow = c.createTask('slow', { file, seconds: '0.5' });
  await until('it runs', () => lines(file).length === 1);
  for (const p of processes()) {
    if (p.pid !== process.pid) clear(`argv of ${p.pid}`, p.argv.join(' '));
  }
  const inside = text(await job);
  assert.match(inside, /ERRAND_PRINCIPAL=/);
  clear('the job', inside);
  await c.result('tasks/result', { taskId: (await slow).taskId });
  await c.result('tasks/list');
  const stream = await c.openStream();
  stream.close();
  await knock(a, 'POST', `Bearer ${c.key}x`);
  await w.cli('key', 'list');
  await w.cli('key', 'revoke', '--name', c.name);
  await knock(a, 'POST', `Bearer ${c.key}`);
  await until('the monitor sees what happens', () => seen.text.includes(c.name));
  clear('a command to Redis', seen.text);
  for (const k of await w.keys()) clear('a key\'s name', k);
  clear('the append-only file', fs.readdirSync(`${w.dir}/appendonlydir`).map((f) => fs.readFileSync(`${w.dir}/appendonlydir/${f}`, 'latin1')).join(''));
  for (const p of [a, b, worker]) {
    assert.ok(p.log.length > 0);
    clear(`the log of ${p.name}`, p.log);
  }
  for (const broker of [a, b]) clear('metrics', await (await fetch(`${broker.origin}/metrics`)).text());
  const list = await w.cli('key', 'list', '--json');
  clear('key list', list.out);
  eye.close();
});

test('B24: what needs no key stays open, and says nothing about callers', async () => {
  const c = await user();
  await c.callTool('whoami');
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    const r = await fetch(`${a.origin}${path}`);
    assert.equal(r.status, 200, path);
    const body = await r.text();
    assert.ok(!body.includes(c.name), path);
  }
});
