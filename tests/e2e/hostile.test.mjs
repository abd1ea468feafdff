// Races and hostile requests against whole brokers: families B2, B3, B12, B27. Whatever comes, the
// three brokers are the same processes in the end and hold nothing.
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { World, busy, lines, openFiles, ran, until } from '../lib/errand.mjs';
import { exchange } from '../lib/client.mjs';
import { Modern } from '../lib/modern.mjs';

const w = new World();
const brokers = [];
let key;
let c;
let m;

const job = (name, script) => ({ name, description: name, inputSchema: { type: 'object' }, run: { command: ['sh', '-c', script, 'sh', '{file}', '{seconds}'] } });
const tools = { tools: [job('once', 'echo ran >>"$1"; sleep "$2"; echo done'), job('echo', 'echo "$1"')] };
const IDEMPOTENCY = 'dev.errand/idempotency-key';

before(async () => {
  await w.startRedis({ args: ['--appendonly', 'no'] });
  const args = ['--rate', '0', '--auth', 'key', '--max-active', '0', '--max-running', '0', '--log-level', 'warn'];
  brokers.push(...await Promise.all([0, 1, 2].map(() => w.startBroker({ args }))));
  await w.startWorker({ tools, args: ['--slots', '16', '--log-level', 'warn'] });
  key = await w.newKey('hostile');
  c = await w.connect(brokers[0], { key, tool: 'once' });
  m = new Modern(brokers[0].url, { key, tasks: true });
  w.clients.push(m);
  for (const b of brokers) await until('the tools are known', async () => (await c.at(b).result('tools/list')).tools.length === 2);
});
after(() => w.stop());

// Well before waiting requests are looked at again just in case, once a minute.
const soon = (promise, what) => Promise.race([promise, new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error(`not within 30 s: ${what}`)), 30000).unref();
})]);

let files = 0;
const file = () => `${w.dir}/effects-${files++}`;
const at = (i) => brokers[i % brokers.length];
const ends = async () => (await w.db.call('HMGET', 'errand:{0}:st', 'r', 'e', 'x')).reduce((sum, v) => sum + Number(v ?? 0), 0);
const text = (r) => r.content[0].text.trim();

// Nothing was harmed: the same processes, nobody waits, nothing is leased.
async function unharmed() {
  for (const b of brokers) {
    assert.equal(b.status, undefined, b.log.slice(-2000));
    await until('nobody waits', async () => (await w.metric(b, 'errand_waiters')) === 0);
  }
  await until('nothing runs', async () => (await w.db.call('ZCARD', 'errand:{0}:ls')) === 0);
  assert.equal(text(await soon(c.callTool('echo', { file: 'well', seconds: '0' }), 'a plain call')), 'well');
}

test('B12: 1,000 creates at once with one idempotency key, by both dialects at three brokers, are one task', async () => {
  const f = file();
  const args = { file: f, seconds: '0' };
  const meta = { [IDEMPOTENCY]: 'the same' };
  const ids = await Promise.all(Array.from({ length: 1000 }, async (_, i) => {
    if (i % 4 === 3) {
      const r = (await m.at(at(i)).request('tools/call', { name: 'once', arguments: args }, { meta })).result;
      return r.taskId ?? r.task?.taskId ?? text(r);
    }
    return (await c.at(at(i)).createTask('once', args, { meta })).taskId;
  }));
  const names = new Set(ids.filter((id) => id !== 'done'));
  assert.equal(names.size, 1);
  assert.equal(text(await c.result('tasks/result', { taskId: [...names][0] })), 'done');
  assert.deepEqual(lines(f), ['ran']);
  for (const b of brokers) {
    const r = await c.at(b).request('tools/call', { name: 'once', arguments: { file: f, seconds: '1' }, task: {}, _meta: meta });
    assert.equal(r.error.code, -32602);
    assert.match(r.error.message, /idempotency key/);
  }
  await unharmed();
});

test('T-28 T-30: cancel races finish 150 times, both dialects, over three brokers: one end each, and everybody is told that one', async () => {
  const before = await ends();
  const rounds = 150;
  const play = async (i) => {
    const f = file();
    const client = i % 2 ? m : c;
    const args = { file: f, seconds: String(i % 5 / 10) };
    const taskId = i % 2
      ? (await m.at(at(i)).request('tools/call', { name: 'once', arguments: args }, { meta: { [IDEMPOTENCY]: f } })).result.taskId
      : (await c.at(at(i)).createTask('once', args)).taskId;
    if (taskId === undefined) return 'completed'; // it was so quick that it did not become a task
    const waiting = i % 2 ? null : c.at(at(i + 1)).request('tasks/result', { taskId });
    await until('it runs', () => lines(f).length === 1, 20000, 1);
    await Promise.all([0, 1].map((k) => client.at(at(i + k)).request('tasks/cancel', { taskId })));
    const state = await until('its end', async () => {
      const r = (await client.at(at(i + 2)).request('tasks/get', { taskId })).result;
      return ['completed', 'cancelled', 'failed'].includes(r.status) && r.status;
    });
    assert.notEqual(state, 'failed');
    const told = await soon(waiting, `the end of ${taskId}, which is ${state}`);
    if (told) assert.equal(Boolean(told.result), state === 'completed', JSON.stringify(told.result ?? told.error));
    assert.equal((await client.at(at(i)).request('tasks/get', { taskId })).result.status, state);
    return state;
  };
  for (let i = 0; i < rounds; i += 15) await Promise.all(Array.from({ length: 15 }, (_, k) => play(i + k)));
  await until('all have ended', async () => (await ends()) >= before + rounds);
  assert.equal(await ends(), before + rounds);
  await unharmed();
});

test('H-28 B3: DELETE of a session races its waiting tasks/result: the waiter ends, the task does not', async () => {
  for (let round = 0; round < 8; round++) {
    const mine = await Promise.all(Array.from({ length: 4 }, (_, i) => w.connect(at(i), { key, tool: null })));
    const ids = await Promise.all(mine.map(async (s) => (await s.createTask('once', { file: file(), seconds: '0.4' })).taskId));
    const waits = mine.flatMap((s, i) => [0, 1, 2].map((k) => s.at(at(i + k)).request('tasks/result', { taskId: ids[i] }).then((r) => r, (e) => e)));
    await Promise.all(mine.map((s, i) => s.at(at(i + 1)).delete()));
    for (const r of await soon(Promise.all(waits), 'the ends of all that waited')) {
      const fine = r instanceof Error || r.http?.status === 404 || r.result || r.error || r.http?.events.length > 0;
      assert.ok(fine, JSON.stringify(r));
    }
    for (const id of ids) assert.equal(text(await c.at(at(round)).result('tasks/result', { taskId: id })), 'done');
    for (const s of mine) s.close();
  }
  await unharmed();
});

// --- single requests ---

const envelope = (id, method, params) => `{"jsonrpc":"2.0","id":${id},"method":${method},"params":${params}}`;
const call = (args, more = '') => `{"name":"echo","arguments":${args}${more}}`;
const deep = (n) => `${'['.repeat(n)}${']'.repeat(n)}`;
const deepObject = (n) => `${'{"a":'.repeat(n)}1${'}'.repeat(n)}`;
const modernMeta = () => JSON.stringify(m.meta());

// Sends it to one broker as both dialects would; the answers are JSON-RPC, whatever they say.
async function send(body, i = 0, headers = {}) {
  const got = [];
  for (const h of [c.headers(), m.headers('tools/call', { name: 'echo' })]) {
    const r = await exchange(at(i).url, { headers: { ...h, ...headers }, body, agent: c.agent });
    assert.ok(r.status < 500, `${r.status} ${r.body.toString().slice(0, 300)} to ${body.slice(0, 300)}`);
    got.push({ status: r.status, text: r.body.toString() });
  }
  return got;
}
const refused = (r, what) => assert.ok(r.status >= 400 || /"error":/.test(r.text) || /"isError":true/.test(r.text), `${what}: ${r.status} ${r.text.slice(0, 300)}`);

test('J12 J14: 10,000 levels of JSON anywhere are refused at once, by both dialects', async () => {
  const n = 10000;
  const bodies = [
    deep(n), '['.repeat(n), deepObject(n), '{"a":'.repeat(n),
    envelope(deep(n), '"ping"', '{}'),
    envelope(1, deep(n), '{}'),
    envelope(1, '"tools/call"', deepObject(n)),
    envelope(1, '"tools/call"', call(deepObject(n))),
    envelope(1, '"tools/call"', call('{}', `,"task":${deepObject(n)}`)),
    envelope(1, '"tools/call"', call('{}', `,"_meta":${deepObject(n)}`)),
    envelope(1, '"tools/call"', call('{}', `,"_meta":{"progressToken":${deep(n)}}`)),
  ];
  for (const body of bodies) {
    const began = Date.now();
    for (const r of await send(body)) refused(r, body.slice(0, 60));
    assert.ok(ran(began) < busy(2000));
  }
  await unharmed();
});

test('J10 J-10: a member that is named twice is refused wherever it counts', async () => {
  const bodies = [
    '{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","\\u006dethod":"tools/list"}',
    envelope(1, '"tools/call"', '{"name":"echo","name":"once","arguments":{}}'),
    envelope(1, '"tools/call"', '{"name":"echo","arguments":{},"arguments":{"file":"x"}}'),
    envelope(1, '"tasks/get"', '{"taskId":"a","taskId":"b"}'),
  ];
  for (const body of bodies) for (const r of await send(body)) refused(r, body);
  await unharmed();
});

test('J3: NUL, in whatever spelling, in names that reach Redis, is no name', async () => {
  const nul = '\\u0000';
  const bodies = [
    envelope(1, `"ping${nul}"`, '{}'),
    envelope(1, `"tools/call${nul}x"`, call('{}')),
    envelope(1, '"tools/call"', `{"name":"echo${nul}","arguments":{}}`),
    envelope(1, '"tools/call"', `{"name":"${nul}","arguments":{}}`),
    envelope(1, '"tasks/get"', `{"taskId":"00${'A'.repeat(21)}${nul}"}`),
    envelope(1, '"tasks/result"', `{"taskId":"${nul}"}`),
    envelope(1, '"tasks/cancel"', `{"taskId":"${nul}"}`),
    envelope(1, '"tasks/list"', `{"cursor":"${nul}"}`),
    envelope(1, '"tools/list"', `{"cursor":"a${nul}"}`),
    envelope(1, '"logging/setLevel"', `{"level":"info${nul}"}`),
    '{"jsonrpc":"2.0","id":1,"method":"ping\u0000"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping"}\u0000',
  ];
  for (const body of bodies) for (const r of await send(body)) refused(r, JSON.stringify(body));
  assert.equal((await w.db.call('KEYS', '*\u0000*')).length, 0);
  await unharmed();
});

test('J-02 J1: huge ids are echoed byte for byte or refused, never changed', async () => {
  for (const id of [`"${'i'.repeat(1000)}"`, `"${'i'.repeat(100000)}"`, '9'.repeat(18), '9'.repeat(40), `-${'1'.repeat(5000)}`, `"${'\\u00e9'.repeat(2000)}"`, '1e400', '1.5', '""']) {
    const r = await c.post(envelope(id, '"ping"', '{}'));
    const echoed = r.text.startsWith(`{"jsonrpc":"2.0","id":${id},"result"`);
    assert.ok(echoed || (r.status === 400 && /-32600/.test(r.text) && !/"id":/.test(r.text)), `${id.slice(0, 30)}: ${r.status} ${r.text.slice(0, 200)}`);
    const held = await c.post(envelope(id, '"tools/call"', call('{"file":"x","seconds":"0"}')));
    assert.ok(held.text.includes(`"id":${id},"result"`) || /-32600/.test(held.text), held.text.slice(0, 200));
  }
  await unharmed();
});

test('a key, a token or a name of any length and content is refused or kept as it is', async () => {
  for (const value of ['x'.repeat(513), '', '\u0001', '{1}', ' ', '*', 'errand:{0}:sq', '../../etc', '\r\nSET a b', '\ud83d\ude00'.repeat(100)]) {
    const f = file();
    const params = { name: 'once', arguments: { file: f, seconds: '0' }, task: {}, _meta: { [IDEMPOTENCY]: value, progressToken: value } };
    const first = await c.request('tools/call', params);
    if (first.error) {
      assert.equal(first.error.code, -32602);
      continue;
    }
    const again = await c.at(at(1)).request('tools/call', params);
    assert.equal(again.result.task.taskId, first.result.task.taskId, JSON.stringify(value));
    await c.result('tasks/result', { taskId: first.result.task.taskId });
    assert.deepEqual(lines(f), ['ran']);
  }
  for (const name of ['x'.repeat(100000), '{1}:x', 'echo\n', ' echo', 'échо']) {
    const r = await c.request('tools/call', { name, arguments: {}, task: {} });
    assert.equal(r.error.code, -32602, name.slice(0, 20));
  }
  assert.deepEqual((await w.keys()).filter((k) => !k.startsWith('errand:')), []);
  await unharmed();
});

// --- raw sockets ---

function raw(broker, bytes, { half = false, ms = 15000 } = {}) {
  return new Promise((resolve) => {
    const s = net.connect({ port: broker.port, host: '127.0.0.1', allowHalfOpen: half });
    let got = '';
    const end = () => {
      s.destroy();
      resolve(got);
    };
    s.on('data', (d) => { got += d; });
    s.on('error', end);
    s.on('end', end);
    s.on('close', end);
    s.setTimeout(ms, end);
    s.write(bytes);
    if (half) s.end();
  });
}

const head = (more, body) => `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nMcp-Session-Id: ${c.session}\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

test('floods of headers, long lines and doubled session ids are refused, and cost nobody else anything', async () => {
  const floods = [
    Array.from({ length: 5000 }, (_, i) => `X-${i}: y\r\n`).join(''),
    `X: ${'y'.repeat(1 << 20)}\r\n`,
    `${'X'.repeat(1 << 16)}: y\r\n`,
    `Mcp-Session-Id: ${c.session}x\r\n`,
    'Mcp-Session-Id: \r\n',
    `Authorization: Bearer ${key}\r\n`,
    'Last-Event-ID: a\r\nLast-Event-ID: b\r\n',
    'Transfer-Encoding: chunked\r\n',
  ];
  for (const flood of floods) {
    const got = await raw(brokers[0], head(flood, ping).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    const ok = /^HTTP\/1\.1 (4\d\d|5\d\d|200)/.test(got) || got === '';
    assert.ok(ok, got.slice(0, 200));
    if (/^(Mcp-Session-Id|Authorization|Last|Transfer)/.test(flood)) assert.match(got, /^HTTP\/1\.1 4/, flood.slice(0, 40));
  }
  assert.match(await raw(brokers[0], `GET /${'a'.repeat(1 << 18)} HTTP/1.1\r\nHost: x\r\n\r\n`), /^$|^HTTP\/1\.1 4/);
  await unharmed();
});

test('B3: clients that close their sending side, or vanish, while they wait leave no waiter and no file behind', async () => {
  const { taskId } = await c.createTask('once', { file: file(), seconds: '3' });
  const body = `{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"${taskId}"}}`;
  const before = openFiles(brokers[1].pid);
  const halves = Array.from({ length: 50 }, () => raw(brokers[1], head('', body), { half: true }));
  const cut = Array.from({ length: 50 }, (_, i) => raw(brokers[1], head('', body), { ms: 50 + i * 5 }));
  const drops = Array.from({ length: 50 }, (_, i) => raw(brokers[1], head('', body).slice(0, -1 - i), { ms: 300 }));
  await Promise.all([...halves, ...cut, ...drops]);
  await until('nobody waits', async () => (await w.metric(brokers[1], 'errand_waiters')) === 0);
  await until('no file is left open', () => openFiles(brokers[1].pid) <= before + 4);
  assert.equal(text(await c.result('tasks/result', { taskId })), 'done');
  await unharmed();
});

test('400 clients whose bodies drip in hold up nobody', async () => {
  const pings = async () => {
    const took = [];
    for (let i = 0; i < 20; i++) {
      const began = performance.now();
      await c.at(brokers[2]).result('ping');
      took.push(performance.now() - began);
    }
    return took.sort((x, y) => x - y)[10];
  };
  const alone = await pings();
  const drips = Array.from({ length: 400 }, () => {
    const s = net.connect(brokers[2].port, '127.0.0.1');
    s.on('error', () => {});
    s.write(head('', 'x'.repeat(1000)).slice(0, -900));
    return s;
  });
  const timer = setInterval(() => drips.forEach((s) => s.write('x')), 100);
  const among = await pings();
  clearInterval(timer);
  drips.forEach((s) => s.destroy());
  assert.ok(among < busy(250) + 10 * alone, `median ${among} ms, of a broker with nothing else to do ${alone} ms`);
  await unharmed();
});

test('3,000 sessions that nobody ends are keys with a TTL, and each is good at every broker', async () => {
  const before = (await w.keys('errand:{*}:se:*')).length;
  const sessions = [];
  for (let i = 0; i < 3000; i += 100) {
    sessions.push(...await Promise.all(Array.from({ length: 100 }, async (_, k) => {
      const body = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"n","version":"1"}}}';
      const r = await exchange(at(k).url, { headers: c.headers({ 'mcp-session-id': undefined, 'mcp-protocol-version': undefined }), body, agent: c.agent });
      return r.headers?.['mcp-session-id'];
    })));
  }
  const made = sessions.filter(Boolean);
  assert.equal(made.length, 3000);
  assert.equal(new Set(made).size, made.length);
  const keys = await w.keys('errand:{*}:se:*');
  assert.ok(keys.length >= before + made.length);
  for (const k of keys.slice(0, 50)) assert.ok((await w.db.call('PTTL', k)) > 0, k);
  for (let i = 0; i < 30; i++) {
    const one = Object.assign(Object.create(c), { session: made[i * 50] });
    assert.deepEqual(await one.at(at(i)).result('ping'), {});
  }
  await unharmed();
});

// --- damage ---

test('2,000 requests damaged at random are answered, and nobody falls', async () => {
  let seed = 20251125;
  const random = (n) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return (seed >> 8) % n;
  };
  const good = [
    envelope(1, '"tools/call"', call('{"file":"x","seconds":"0"}', ',"task":{"ttl":60000},"_meta":{"progressToken":"t","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}')),
    envelope('"a"', '"tasks/list"', '{"cursor":"abc"}'),
    envelope(2, '"tasks/get"', '{"taskId":"00AAAAAAAAAAAAAAAAAAAAAA"}'),
    envelope(3, '"initialize"', '{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"n","version":"1"}}'),
    envelope(4, '"tools/call"', `{"name":"echo","arguments":{"file":"x","seconds":"0"},"_meta":${modernMeta()}}`),
    envelope(5, '"subscriptions/listen"', `{"_meta":${modernMeta()}}`).replace('subscriptions/listen', 'server/discover'),
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
    '{"jsonrpc":"2.0","id":"00AAAAAAAAAAAAAAAAAAAAAA/k/1","result":{"action":"accept"}}',
  ];
  const spices = ['"', '\\', '{', '}', '[', ']', ',', ':', 'null', '1e999', '\\ud800', '\xff', '\u0000', '-', '0', ' ', '\n', '"a":', '\\u0000'];
  const damage = (body) => {
    let b = body;
    for (let k = 1 + random(3); k > 0; k--) {
      const i = random(b.length + 1);
      const j = Math.min(b.length, i + random(12));
      const kind = random(4);
      if (kind === 0) b = b.slice(0, i) + b.slice(j);
      else if (kind === 1) b = b.slice(0, i) + spices[random(spices.length)] + b.slice(i);
      else if (kind === 2) b = b.slice(0, i) + b.slice(i, j).repeat(2) + b.slice(j);
      else b = b.slice(0, i) + spices[random(spices.length)] + b.slice(j);
    }
    return Buffer.from(b, random(2) ? 'latin1' : 'utf8');
  };
  for (let i = 0; i < 2000; i += 50) {
    await Promise.all(Array.from({ length: 50 }, async (_, k) => {
      const body = damage(good[random(good.length)]);
      const headers = (i + k) % 2 ? m.headers(['tools/call', 'tasks/get', 'server/discover'][random(3)], { name: 'echo' }) : c.headers();
      const r = await exchange(at(k).url, { headers, body, agent: c.agent });
      assert.ok(r.status < 500, `${r.status} ${r.body} to ${body}`);
      if ((r.headers['content-type'] ?? '').startsWith('application/json')) JSON.parse(r.body.toString());
    }));
  }
  await unharmed();
});
