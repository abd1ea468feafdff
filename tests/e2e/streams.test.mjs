// Event streams of the handshake dialect: priming, progress, resumption at another broker.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { World, sleep, until } from '../lib/errand.mjs';
import { SseReader } from '../lib/client.mjs';
import { Cutter } from '../lib/cutter.mjs';

const w = new World();
// Ends when it is let go.
const tools = { tools: [{ name: 'held', description: 'Ends when it is let go.', inputSchema: { type: 'object' }, run: { command: ['sh', '-c', 'while [ ! -e "$1" ]; do sleep 0.05; done', 'sh', '{file}'] } }] };
let a;
let b;

before(async () => {
  await w.startRedis();
  const args = ['--auth', 'key', '--rate', '0', '--grace', '3s'];
  [a, b] = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  await w.startWorker({ args: ['--slots', '16'] });
  await w.startWorker({ tools, args: ['--slots', '16'] });
});
after(() => w.stop());

let made = 0;
const user = async (options = {}) => w.connect(a, { key: await w.newKey(`streamer${made++}`), tool: 'sleep', ...options });
const letGo = (file) => fs.writeFileSync(file, '');

// A request whose stream can be cut after any event: resolves to { events, messages, done }.
function slow(c, body, { url = c.url, headers = {}, method = 'POST', cutAfter = Infinity } = {}) {
  return new Promise((resolve, reject) => {
    const got = { events: [], messages: [], cut: false };
    const text = body === undefined ? undefined : JSON.stringify(body);
    const h = { ...c.headers(headers), ...(text ? { 'content-length': Buffer.byteLength(text) } : {}) };
    const r = http.request(url, { method, headers: h }, (res) => {
      got.status = res.statusCode;
      got.headers = res.headers;
      const reader = new SseReader((e) => {
        if (got.cut) return;
        got.events.push(e);
        if (e.data) got.messages.push(JSON.parse(e.data));
        if (got.events.filter((x) => x.id).length >= cutAfter) {
          got.cut = true;
          r.destroy();
          resolve(got);
        }
      });
      res.on('data', (d) => reader.feed(d));
      res.on('end', () => resolve(got));
      res.on('error', () => resolve(got));
    });
    r.on('error', (e) => (got.cut ? resolve(got) : reject(e)));
    if (text) r.write(text);
    r.end();
  });
}

const call = (name, args, more = {}, id = 1) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, ...more } });
const ids = (events) => events.map((e) => e.id).filter(Boolean);

test('H-11 H-22 H-16 B13: a slow call opens its stream early, primes it, and every id is its own', async () => {
  const c = await user();
  const got = await slow(c, call('sleep', { ms: 800 }, { _meta: { progressToken: 0 } }));
  assert.match(got.headers['content-type'], /^text\/event-stream/);
  assert.equal(got.events[0].data, '');
  assert.ok(got.events[0].id);
  const all = ids(got.events);
  assert.equal(new Set(all).size, all.length);
  assert.equal(got.messages.at(-1).id, 1);
  assert.equal(got.messages.at(-1).result.isError, false);
});

test('U-09 U-10 U-12 T-84: progress carries the raw token, grows, precedes the answer, and stops there', async () => {
  const c = await user();
  for (const token of [0, 'text', '0']) {
    const got = await slow(c, call('sleep', { ms: 900 }, { _meta: { progressToken: token } }));
    const told = got.messages.filter((m) => m.method === 'notifications/progress');
    assert.ok(told.length >= 1, `none for ${token}`);
    assert.ok(told.every((m) => m.params.progressToken === token));
    for (let i = 1; i < told.length; i++) assert.ok(told[i].params.progress > told[i - 1].params.progress);
    assert.ok(told.every((m) => m.params._meta === undefined)); // a plain call is no task
    assert.equal(got.messages.at(-1).id, 1);
  }
});

test('U-11: without a token there is no progress', async () => {
  const c = await user();
  const got = await slow(c, call('sleep', { ms: 700 }));
  assert.equal(got.messages.length, 1);
});

test('T-83 T-85: the progress of a task keeps its token and names the task, on the GET stream', async () => {
  const c = await user();
  const stream = await c.at(b).openStream();
  const { taskId } = await c.createTask('sleep', { ms: 900 }, { meta: { progressToken: 'p' } });
  await until('completed', () => stream.messages.some((m) => m.params?.status === 'completed'));
  const told = stream.messages.filter((m) => m.method === 'notifications/progress');
  assert.ok(told.length >= 1);
  for (const m of told) {
    assert.equal(m.params.progressToken, 'p');
    assert.deepEqual(m.params._meta, { 'io.modelcontextprotocol/related-task': { taskId } });
  }
});

test('H-24 H-25 B14: a call cut after any event resumes at the other broker: nothing lost, nothing twice', async () => {
  const c = await user();
  const whole = await slow(c, call('sleep', { ms: 900 }, { _meta: { progressToken: 'w' } }));
  const count = ids(whole.events).length;
  assert.ok(count >= 3);
  for (let cut = 1; cut < Math.min(count, 6); cut++) {
    const first = await slow(c, call('sleep', { ms: 900 }, { _meta: { progressToken: 'c' } }), { cutAfter: cut });
    const last = ids(first.events).at(-1);
    const rest = await slow(c, undefined, { method: 'GET', url: b.url, headers: { 'last-event-id': last, 'content-type': undefined } });
    const all = [...first.messages, ...rest.messages];
    const told = all.filter((m) => m.method === 'notifications/progress').map((m) => m.params.progress);
    assert.deepEqual(told, [...new Set(told)].sort((x, y) => x - y), `cut ${cut}`);
    const answers = all.filter((m) => m.id === 1);
    assert.equal(answers.length, 1, `cut ${cut}`);
    assert.equal(answers[0].result.isError, false);
    assert.ok(told.length >= whole.messages.length - 2, `cut ${cut}: ${told.length} of ${whole.messages.length - 1}`);
  }
});

test('H-24: a waiting tasks/result that is cut resumes at the other broker and is answered there', async () => {
  const c = await user();
  const file = `${w.dir}/held-${made++}`;
  const { taskId } = await c.createTask('held', { file });
  const first = await slow(c, { jsonrpc: '2.0', id: 'r', method: 'tasks/result', params: { taskId } }, { cutAfter: 1 });
  const streams = await w.metric(b, 'errand_http_streams');
  const resumed = slow(c, undefined, { method: 'GET', url: b.url, headers: { 'last-event-id': ids(first.events).at(-1), 'content-type': undefined } });
  await w.streams(b, streams + 1);
  letGo(file);
  const rest = await resumed;
  const answer = rest.messages.find((m) => m.id === 'r');
  assert.equal(answer.result._meta['io.modelcontextprotocol/related-task'].taskId, taskId);
});

test('H-24: an answer that was lost on its way can be fetched again', async () => {
  const c = await user();
  const got = await slow(c, call('sleep', { ms: 500 }));
  const primed = ids(got.events)[0];
  const again = await slow(c, undefined, { method: 'GET', url: b.url, headers: { 'last-event-id': primed, 'content-type': undefined } });
  assert.deepEqual(again.messages.at(-1), got.messages.at(-1));
});

test('H-24: a GET stream that is cut resumes at the other broker with exactly what it missed', async () => {
  const c = await user();
  const stream = await c.openStream();
  const one = await c.createTask('echo', { text: '1' });
  await until('first end', () => stream.messages.some((m) => m.params?.taskId === one.taskId && m.params.status === 'completed'));
  const seen = stream.events.filter((e) => e.id).at(-1).id;
  stream.close();
  const two = await c.createTask('echo', { text: '2' });
  await until('second ended', async () => (await c.getTask(two.taskId)).status === 'completed');
  const resumed = await c.at(b).openStream({ headers: { 'last-event-id': seen } });
  await until('what was missed', () => resumed.messages.some((m) => m.params?.taskId === two.taskId && m.params.status === 'completed'));
  assert.ok(resumed.messages.every((m) => m.params.taskId === two.taskId));
  const three = await c.createTask('echo', { text: '3' });
  await until('it goes on', () => resumed.messages.some((m) => m.params?.taskId === three.taskId));
});

test('H-25 B8: another principal\'s, an unknown and a malformed event id replay nothing', async () => {
  const c = await user();
  const d = await user();
  const got = await slow(c, call('sleep', { ms: 600 }));
  for (const last of [ids(got.events)[0], 'AAAAAAAA.0', 'junk', '../x', 'x'.repeat(3000)]) {
    const s = await d.openStream({ headers: { 'last-event-id': last } });
    assert.equal(s.status, 200, last.slice(0, 20));
    await sleep(100);
    assert.deepEqual(s.messages, []);
    s.close();
  }
});

test('H-12 H-13 H-18 B22 L-14: a broker that leaves says when to come back; the call is answered by the other', async () => {
  const c = await user();
  const extra = await w.startBroker({ args: ['--auth', 'key', '--rate', '0', '--grace', '10s'] });
  await w.connect(extra, { key: c.key, tool: 'held' });
  const file = `${w.dir}/held-${made++}`;
  const pending = slow(c.at(extra), call('held', { file }), { url: extra.url });
  await w.streams(extra, 1);
  assert.equal(await extra.kill('SIGTERM'), 0);
  const got = await pending;
  assert.ok(got.events.some((e) => e.retry > 0));
  assert.deepEqual(got.messages, []);
  letGo(file);
  const rest = await slow(c, undefined, { method: 'GET', url: b.url, headers: { 'last-event-id': ids(got.events).at(-1), 'content-type': undefined } });
  assert.equal(rest.messages.at(-1).result.isError, false);
});

test('a stream resumed elsewhere ends where it was', async () => {
  const c = await user();
  const stream = await c.openStream();
  await until('primed', () => stream.events.length > 0);
  const resumed = await c.at(b).openStream({ headers: { 'last-event-id': stream.events[0].id } });
  await until('the old one is closed', () => stream.closed);
  assert.equal(resumed.closed, false);
});

// A broker whose exchange with Redis can be watched and held up.
async function watched() {
  const cutter = await new Cutter(`${w.dir}/cutter${made++}.sock`, w.socket).listen();
  const via = Object.assign(Object.create(w), { redisUrl: cutter.url });
  const broker = await w.startBroker.call(via, { args: ['--auth', 'key', '--rate', '0'] });
  return { cutter, broker };
}

test('H-24: of two visits that come back for one stream at once the last has it, and the other ends', async () => {
  const { cutter, broker } = await watched();
  const c = await user();
  const stream = await c.openStream();
  const { id } = await until('primed', () => stream.events[0]);
  stream.close();
  const mine = c.at(broker);
  await mine.request('ping'); // its key and session are known there
  cutter.watch();
  cutter.hold();
  const visits = [];
  for (let i = 1; i <= 2; i++) {
    visits.push(mine.openStream({ headers: { 'last-event-id': id } }));
    await until('it asks for the stream', () => cutter.seen.filter((k) => k === 'stream_resume').length === i);
  }
  cutter.answer();
  const [one, two] = await Promise.all(visits);
  await until('the first has ended', () => one.closed);
  assert.equal(one.cut, undefined);
  const { taskId } = await c.createTask('echo', { text: 'x' });
  await until('the second goes on', () => two.messages.some((m) => m.params?.taskId === taskId));
  await broker.kill();
  cutter.close();
});

test('H-24: what is said while a stream is taken over comes on it, though it is heard before the answer', async () => {
  const { cutter, broker } = await watched();
  const c = await user();
  const stream = await c.openStream();
  const { id } = await until('primed', () => stream.events[0]);
  stream.close();
  const mine = c.at(broker);
  await mine.request('ping'); // its key and session are known there
  cutter.watch();
  cutter.hold();
  const visit = mine.openStream({ headers: { 'last-event-id': id } });
  await until('Redis has given it the stream', () => cutter.seen.includes('stream_resume') && cutter.held.length > 0);
  const { taskId } = await c.createTask('echo', { text: 'x' });
  await until('the task has ended', async () => (await c.getTask(taskId)).status === 'completed');
  await until('its end is told', () => cutter.seen.some((k) => k === 'message:S'));
  assert.equal((await fetch(`${broker.origin}/healthz`)).status, 200);
  cutter.answer();
  const one = await visit;
  await until('the stream says so', () => one.messages.some((m) => m.params?.taskId === taskId && m.params.status === 'completed'));
  await broker.kill();
  cutter.close();
});

test('H-28: a session whose end was not heard is looked up again', async () => {
  const { cutter, broker } = await watched();
  const c = await user();
  const mine = c.at(broker);
  assert.ok((await mine.request('ping')).result);
  const ups = () => broker.log.match(/event=LINK_UP.*link=messages/g).length;
  cutter.deafen();
  assert.ok((await c.delete()).status < 300);
  cutter.hear();
  await until('messages reach the broker again', () => ups() === 2);
  assert.equal((await mine.request('ping')).http.status, 404);
  await broker.kill();
  cutter.close();
});

test('H-28: a GET stream of a session that is gone ends', async () => {
  const c = await user();
  await c.request('ping'); // the session is known
  await w.db.call('DEL', ...(await w.keys('*')).filter((k) => k.endsWith(`:se:${c.session}`)));
  const stream = await c.openStream();
  await until('it ends', () => stream.closed);
  assert.equal(stream.cut, undefined);
  assert.deepEqual(stream.events, []);
});

test('H-23 B14: what streams leave in Redis is bounded in count and has a TTL', async () => {
  const c = await user();
  const stream = await c.openStream();
  for (let i = 0; i < 400; i++) await c.createTask('echo', { text: 'x' });
  await until('all told', () => stream.messages.filter((m) => m.params?.status === 'completed').length >= 400, 20000);
  const keys = (await w.keys('*')).filter((k) => /:s[mx]:/.test(k));
  for (const k of keys) {
    assert.ok((await w.db.call('PTTL', k)) > 0, k);
    if (/:sx:/.test(k)) assert.ok((await w.db.call('XLEN', k)) <= 1024, k);
  }
});
