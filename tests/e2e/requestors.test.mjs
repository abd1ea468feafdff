// What requestors do wrong, or twice, and what lies between them and us: families B12, B13, B19.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { Client } from '../lib/client.mjs';
import { World, lines, sleep, until } from '../lib/errand.mjs';
import { Modern } from '../lib/modern.mjs';

const KEY = 'dev.errand/idempotency-key';
const w = new World();
let a;
let b;

// A job ends after some seconds, or when it is let go.
const run = 'echo start >>"$1"; if [ "$2" = told ]; then while [ ! -e "$1.go" ]; do sleep 0.05; done; else sleep "$2"; fi; echo end >>"$1"; echo done';
const tools = { tools: [{ name: 'job', description: 'Runs for a while.', inputSchema: { type: 'object' }, pollInterval: '1s', run: { command: ['sh', '-c', run, 'sh', '{file}', '{seconds}'] } }] };

before(async () => {
  await w.startRedis();
  const args = ['--auth', 'key', '--rate', '0', '--keepalive', '1s'];
  [a, b] = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  await w.startWorker({ tools, args: ['--slots', '8'] });
});
after(() => w.stop());

let names = 0;
const user = async () => {
  const key = await w.newKey(`user${names++}`);
  const c = await w.connect(a, { key, tool: 'job' });
  await w.connect(b, { key, tool: 'job' });
  return c;
};
let files = 0;
const file = () => `${w.dir}/effects-${files++}`;
const letGo = (f) => fs.writeFileSync(`${f}.go`, '');
const allWait = (n) => until(`${n} wait`, async () => (await w.metric(a, 'errand_waiters')) + (await w.metric(b, 'errand_waiters')) === n);

test('B12: a create that is sent twenty times with one idempotency key, to two brokers at once, is one task and one execution', async () => {
  const c = await user();
  const args = { file: file(), seconds: '0' };
  const tasks = await Promise.all(Array.from({ length: 20 }, (_, i) => c.at(i % 2 ? a : b).createTask('job', args, { meta: { [KEY]: 'one' } })));
  assert.equal(new Set(tasks.map((t) => t.taskId)).size, 1);
  await c.result('tasks/result', { taskId: tasks[0].taskId });
  const again = await c.at(b).createTask('job', args, { meta: { [KEY]: 'one' } });
  assert.equal(again.taskId, tasks[0].taskId, 'it stands for the task that has ended, too');
  assert.equal((await c.getTask(again.taskId)).status, 'completed');
  assert.deepEqual(lines(args.file), ['start', 'end']);
});

test('B12: twenty plain calls with one key are one execution, and each is given its result', async () => {
  const c = await user();
  const args = { file: file(), seconds: 'told' };
  const calls = Promise.all(Array.from({ length: 20 }, (_, i) => c.at(i % 2 ? a : b).callTool('job', args, { meta: { [KEY]: 'two' } })));
  await allWait(20);
  letGo(args.file);
  const results = await calls;
  for (const r of results) assert.equal(r.content[0].text, 'done\n');
  assert.deepEqual(lines(args.file), ['start', 'end']);
});

test('B12: the same in the stateless dialect', async () => {
  const c = await user();
  const m = new Modern(a.url, { key: c.key });
  const args = { file: file(), seconds: 'told' };
  const calls = Promise.all(Array.from({ length: 20 }, (_, i) => m.at(i % 2 ? a : b).call('job', args, { meta: { [KEY]: 'three' } })));
  await allWait(20);
  letGo(args.file);
  const results = await calls;
  for (const r of results) assert.equal(r.content[0].text, 'done\n');
  assert.deepEqual(lines(args.file), ['start', 'end']);
});

test('B12: one key with other arguments is a conflict; with another caller it is another key', async () => {
  const c = await user();
  const other = await user();
  const first = await c.createTask('job', { file: '/dev/null', seconds: '0' }, { meta: { [KEY]: 'k' } });
  const r = await c.at(b).request('tools/call', { name: 'job', arguments: { file: '/dev/null', seconds: '1' }, task: {}, _meta: { [KEY]: 'k' } });
  assert.equal(r.error.code, -32602);
  assert.match(r.error.message, /idempotency/);
  const theirs = await other.createTask('job', { file: '/dev/null', seconds: '0' }, { meta: { [KEY]: 'k' } });
  assert.notEqual(theirs.taskId, first.taskId);
});

test('B12: a key is forgotten with the TTL of its task', async () => {
  const c = await user();
  const args = { file: file(), seconds: '0' };
  const create = () => c.createTask('job', args, { ttl: 4000, meta: { [KEY]: 'passing' } });
  const first = await create();
  const second = await until('it is forgotten', async () => {
    const t = await create();
    return t.taskId !== first.taskId && t;
  });
  await c.result('tasks/result', { taskId: second.taskId });
  assert.deepEqual(lines(args.file), ['start', 'end', 'start', 'end']);
});

// Between the client and a broker: cuts whatever was silent in both directions for idleMs. When this
// process itself stood still, what has come meanwhile is heard first.
function impatient(port, idleMs) {
  const cut = { count: 0 };
  const server = net.createServer((down) => {
    const up = net.connect(port, '127.0.0.1');
    let timer;
    let times = 0;
    const heard = () => {
      clearTimeout(timer);
      times++;
      timer = setTimeout(() => {
        const at = times;
        setTimeout(() => {
          if (times !== at) return;
          cut.count++;
          down.destroy();
          up.destroy();
        }, 50);
      }, idleMs);
    };
    heard();
    for (const [from, to] of [[down, up], [up, down]]) {
      from.on('data', heard);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        clearTimeout(timer);
        to.destroy();
      });
    }
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ port: server.address().port, cut, close: () => server.close() }));
  });
}

test('B13: a proxy that cuts what is silent for 5 s cuts neither a waiting tasks/result of 11 s nor the GET stream', async (t) => {
  const c = await user();
  const proxy = await impatient(a.port, 5000);
  t.after(() => proxy.close());
  const behind = new Client(`http://127.0.0.1:${proxy.port}/mcp`, { key: c.key });
  t.after(() => behind.close());
  await behind.initialize();
  const stream = await behind.openStream();
  const { taskId } = await behind.createTask('job', { file: '/dev/null', seconds: '11' });
  const r = await behind.request('tasks/result', { taskId });
  assert.equal(r.result.content[0].text, 'done\n');
  assert.ok(r.http.events.filter((e) => e.comment !== undefined).length >= 4, 'comments keep it alive');
  assert.equal(r.http.headers['x-accel-buffering'], 'no');
  assert.equal(r.http.headers['content-encoding'], undefined);
  assert.equal(stream.closed, false);
  assert.ok(stream.events.filter((e) => e.comment !== undefined).length >= 4);
});

test('B19: polls that are dropped, wrong or left halfway, and polling too fast, change nothing of the task', async () => {
  const c = await user();
  const f = file();
  const { taskId, lastUpdatedAt } = await c.createTask('job', { file: f, seconds: 'told' });
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId } });
  for (let i = 0; i < 3; i++) { // its socket is gone before there can be an answer
    const s = net.connect(a.port, '127.0.0.1');
    const h = Object.entries(c.headers()).map(([k, v]) => `${k}: ${v}\r\n`).join('');
    s.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n${h}Content-Length: ${body.length}\r\n\r\n${body}`);
    await new Promise((r) => s.once('connect', r));
    s.resetAndDestroy();
  }
  const odd = await c.post(body, { headers: { accept: 'text/html' } });
  assert.deepEqual([odd.status, odd.headers['content-type']], [200, 'application/json'], 'served, and never as a stream');
  const aborted = new AbortController();
  const waiting = c.post(body.replace('tasks/get', 'tasks/result'), { signal: aborted.signal });
  setTimeout(() => aborted.abort(), 300);
  await assert.rejects(waiting);
  const seen = await Promise.all(Array.from({ length: 50 }, (_, i) => c.at(i % 2 ? a : b).getTask(taskId)));
  for (const t of seen) assert.deepEqual([t.status, t.lastUpdatedAt], ['working', lastUpdatedAt]);
  letGo(f);
  const r = await c.at(b).result('tasks/result', { taskId });
  assert.equal(r.content[0].text, 'done\n');
  await sleep(100);
  assert.deepEqual(lines(f), ['start', 'end']);
});
