// The tasks utility, receiver side: T rows of the 2025-11-25 revision but questions and progress.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { messageIn } from '../lib/client.mjs';
import { World, busy, ofTask, ran, sleep, until } from '../lib/errand.mjs';
import { Redis } from '../lib/resp.mjs';

process.env.ERRAND_PARTITIONS = '4'; // each caller's tasks are in one of four hash slots
const w = new World();
let a;
let b;
let worker;

const tools = {
  tools: [
    { name: 'greet', description: 'Says hello.', inputSchema: { type: 'object' }, run: { command: ['sh', '-c', 'echo "hello $1"', 'sh', '{name}'] } },
    { name: 'fail', description: 'Fails.', inputSchema: { type: 'object' }, run: { command: ['sh', '-c', 'echo broken pipe dream >&2; exit 3'] } },
    { name: 'slow', description: 'Takes a while.', inputSchema: { type: 'object' }, run: { command: ['sleep', '{seconds}'] }, pollInterval: '700ms' },
    { name: 'held', description: 'Ends when it is let go.', inputSchema: { type: 'object' }, run: { command: ['sh', '-c', 'while [ ! -e "$1" ]; do sleep 0.05; done', 'sh', '{file}'] }, pollInterval: '700ms' },
    { name: 'never', description: 'Not as a task.', inputSchema: { type: 'object' }, taskSupport: 'forbidden', run: { command: ['true'] } },
    { name: 'only', description: 'Only as a task.', inputSchema: { type: 'object' }, taskSupport: 'required', run: { command: ['echo', 'done'] } },
    { name: 'raw', description: 'Passes a result on.', inputSchema: { type: 'object' }, run: { command: ['cat', '{file}'], output: 'result' } },
    { name: 'mirror', description: 'Answers its arguments.', inputSchema: { type: 'object' }, run: { command: ['cat'], output: 'text' } },
  ],
};

before(async () => {
  await w.startRedis();
  const args = ['--auth', 'key', '--rate', '0', '--max-ttl', '2h', '--default-ttl', '20m', '--page-size', '5'];
  [a, b, worker] = await Promise.all([w.startBroker({ args }), w.startBroker({ args }), w.startWorker({ tools, args: ['--slots', '8'] })]);
});
after(() => w.stop());

let made = 0;
// A task that is working until end() is called.
async function held(c) {
  const file = `${w.dir}/held-${made++}`;
  const task = await c.createTask('held', { file });
  return { ...task, end: () => fs.writeFileSync(file, '') };
}
async function user(options = {}) {
  const name = options.name ?? `user${made++}`;
  const key = options.key ?? await w.newKey(name);
  const c = await w.connect(options.broker ?? a, { key, ...options, tool: 'greet' });
  c.name = name;
  return c;
}

const ended = (c, taskId) => until(`end of ${taskId}`, async () => {
  const t = await c.getTask(taskId);
  return ['completed', 'failed', 'cancelled'].includes(t.status) && t;
});
const related = 'io.modelcontextprotocol/related-task';
const stamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

test('the tasks of different callers are in different partitions, and each caller finds its own', async () => {
  const callers = await Promise.all(Array.from({ length: 12 }, () => user()));
  const made = await Promise.all(callers.map((c) => c.createTask('greet')));
  const used = new Set((await w.keys('errand:{?}:t:*')).map((k) => k.slice(0, 10)));
  assert.ok(used.size > 1, [...used].join());
  for (const [i, c] of callers.entries()) {
    assert.deepEqual((await c.at(b).result('tasks/list')).tasks.map((t) => t.taskId), [made[i].taskId]);
    assert.equal((await c.at(b).result('tasks/result', { taskId: made[i].taskId })).isError, false);
  }
});

test('T-01 T-02: with keys, list, cancel and tools.call are declared', async () => {
  const c = await user();
  assert.deepEqual(c.server.capabilities.tasks, { list: {}, cancel: {}, requests: { tools: { call: {} } } });
});

test('T-12 W-02: tools carry execution.taskSupport, a description and an object schema', async () => {
  const c = await user();
  const { tools: first, nextCursor } = await c.result('tools/list');
  const { tools: rest } = await c.result('tools/list', { cursor: nextCursor });
  const all = [...first, ...rest];
  assert.deepEqual(all.map((t) => t.name), ['fail', 'greet', 'held', 'mirror', 'never', 'only', 'raw', 'slow']);
  assert.equal(all.find((t) => t.name === 'only').execution.taskSupport, 'required');
  assert.equal(all.find((t) => t.name === 'never').execution.taskSupport, 'forbidden');
  assert.equal(all.find((t) => t.name === 'greet').execution.taskSupport, 'optional');
  for (const t of all) assert.equal(t.inputSchema.type, 'object');
});

test('U-17 U-18 T-77: a cursor that no list gave is -32602, on tools/list and tasks/list', async () => {
  const c = await user();
  for (const method of ['tools/list', 'tasks/list']) {
    for (const cursor of ['junk', '', 5, 'A'.repeat(2000)]) {
      const r = await c.request(method, { cursor });
      assert.equal(r.error.code, -32602, `${method} ${cursor}`);
    }
  }
});

test('T-09: a forbidden tool with task is -32601 and makes nothing', async () => {
  const c = await user();
  const r = await c.request('tools/call', { name: 'never', arguments: {}, task: {} });
  assert.equal(r.error.code, -32601);
  assert.deepEqual((await c.result('tasks/list')).tasks, []);
  assert.equal((await c.callTool('never')).isError, false);
});

test('T-11: a required tool without task is -32601', async () => {
  const c = await user();
  assert.equal((await c.request('tools/call', { name: 'only', arguments: {} })).error.code, -32601);
  assert.equal((await c.createTask('only')).status, 'working');
});

test('T-10 T-51: an optional tool is called both ways, with the same payload', async () => {
  const c = await user();
  const plain = await c.callTool('greet', { name: 'you' });
  const { taskId } = await c.createTask('greet', { name: 'you' });
  const { _meta, ...result } = await c.result('tasks/result', { taskId });
  assert.deepEqual(result, plain);
  assert.equal(plain.content[0].text.trim(), 'hello you');
});

test('T-13 T-15 T-27 T-39 T-42: the handle is a working Task and nothing else', async () => {
  const c = await user();
  const r = await c.result('tools/call', { name: 'greet', arguments: {}, task: {} });
  assert.deepEqual(Object.keys(r), ['task']);
  assert.equal(r.task.status, 'working');
  assert.match(r.task.createdAt, stamp);
  assert.match(r.task.lastUpdatedAt, stamp);
  assert.equal(r.task.ttl, 20 * 60000);
  assert.equal(r.task.pollInterval, 1000);
});

test('T-16: a handle comes at once while no worker is alive, and the job waits for one', async () => {
  const c = await user();
  await worker.kill('SIGTERM');
  const began = Date.now();
  const { taskId } = await c.createTask('greet', { name: 'later' });
  assert.ok(ran(began) < busy(1000));
  worker = await w.startWorker({ tools, args: ['--slots', '8'] });
  const r = await c.result('tasks/result', { taskId });
  assert.equal(r.content[0].text.trim(), 'hello later');
});

test('T-17: a task is readable at another broker as soon as its handle is here, 300 times', async () => {
  const c = await user();
  for (let i = 0; i < 300; i++) {
    const { taskId } = await c.createTask('slow', { seconds: '0' });
    assert.equal((await c.at(b).getTask(taskId)).taskId, taskId);
  }
});

test('T-23 T-24 T-25 T-26: ids are ours, long, and never alike', async () => {
  const c = await user();
  const ids = new Set();
  for (let i = 0; i < 200; i++) {
    const { task } = await c.result('tools/call', { name: 'greet', arguments: {}, task: { taskId: 'x' } });
    assert.match(task.taskId, /^[A-Za-z0-9_-]{24}$/);
    ids.add(task.taskId);
  }
  assert.equal(ids.size, 200);
});

test('T-41 T-99: a ttl is honoured, and cut to the maximum', async () => {
  const c = await user();
  assert.equal((await c.createTask('greet', {}, { ttl: 60000 })).ttl, 60000);
  assert.equal((await c.createTask('greet', {}, { ttl: 1e12 })).ttl, 2 * 3600000);
  assert.equal((await c.createTask('greet', {}, { ttl: 5000.0 })).ttl, 5000);
});

test('T-99 T-42: a ttl of null is the longest there is', async () => {
  const c = await user();
  const { taskId, ttl } = await c.createTask('greet', {}, { ttl: null });
  assert.equal(ttl, 2 * 3600000);
  assert.equal((await c.at(b).getTask(taskId)).ttl, ttl);
});

test('T-48 B27: a ttl that is no positive whole number, or a task that is no object, is -32602', async () => {
  const c = await user();
  for (const task of [{ ttl: -1 }, { ttl: 0 }, { ttl: 1.5 }, { ttl: '5' }, { ttl: false }, { ttl: 1e30 }, null, true, [], 'x']) {
    const r = await c.request('tools/call', { name: 'greet', arguments: {}, task });
    assert.equal(r.error?.code, -32602, JSON.stringify(task));
  }
  assert.deepEqual((await c.result('tasks/list')).tasks, []);
});

test('T-19 W-12 W-13 T-88 J-11: bad calls are ordinary errors and make nothing', async () => {
  const c = await user();
  for (const params of [undefined, {}, { name: 5 }, { name: 'nope' }, { name: 'nope', task: {} }, { name: 'greet', arguments: [] },
    { name: 'greet', arguments: 'x', task: {} }, { name: 'greet', _meta: 5 }, { name: 'x'.repeat(300) }, { name: 'greet', _meta: { progressToken: {} } }]) {
    const r = await c.request('tools/call', params);
    assert.equal(r.error?.code, -32602, JSON.stringify(params));
    assert.equal(r.http.status, 200);
  }
  assert.deepEqual((await c.result('tasks/list')).tasks, []);
});

test('T-34: tasks/get is JSON even for a client that takes streams', async () => {
  const c = await user();
  const { taskId, end } = await held(c);
  // What lasts, on a machine that stalls, is a stream.
  await until('an answer at once is JSON', async () => /^application\/json/.test((await c.request('tasks/get', { taskId })).http.headers['content-type']));
  end();
});

test('T-39 T-40 T-42 T-45: a task keeps createdAt, ttl and pollInterval; lastUpdatedAt never goes back', async () => {
  const c = await user();
  const first = await c.createTask('slow', { seconds: '1' });
  assert.equal(first.pollInterval, 700);
  let last = first;
  await until('the end', async () => {
    const t = await c.getTask(first.taskId);
    assert.equal(t.createdAt, first.createdAt);
    assert.equal(t.ttl, first.ttl);
    assert.ok(Date.parse(t.lastUpdatedAt) >= Date.parse(last.lastUpdatedAt));
    last = t;
    return t.status === 'completed';
  });
});

test('T-49 T-50 T-57 B3: three waiters at two brokers block and are all released; tasks/get answers meanwhile', async () => {
  const c = await user();
  const { taskId, end } = await held(c);
  const waits = [c, c.at(b), c.at(b)].map((x) => x.result('tasks/result', { taskId }));
  await w.waiters(a, 1, c);
  await w.waiters(b, 2, c);
  assert.equal((await c.getTask(taskId)).status, 'working');
  end();
  const results = await Promise.all(waits);
  for (const r of results) assert.deepEqual(r, results[0]);
  assert.equal(results[0]._meta[related].taskId, taskId);
});

test('T-55: a result can be fetched again and again', async () => {
  const c = await user();
  const { taskId } = await c.createTask('greet', { name: 'twice' });
  const one = await c.result('tasks/result', { taskId });
  assert.deepEqual(await c.at(b).result('tasks/result', { taskId }), one);
});

test('T-53 T-89 T-90 W-08 W-14 B9: isError fails the task, names the cause, and the result comes whole', async () => {
  const c = await user();
  const { taskId } = await c.createTask('fail');
  const t = await ended(c, taskId);
  assert.equal(t.status, 'failed');
  assert.match(t.statusMessage, /broken pipe dream/);
  const r = await c.result('tasks/result', { taskId });
  assert.equal(r.isError, true);
  assert.match(r.content[0].text, /broken pipe dream/);
  const plain = await c.callTool('fail');
  assert.equal(plain.isError, true);
});

test('T-54: what the tool put into _meta stays beside related-task, byte for byte', async () => {
  const c = await user();
  const file = `${w.dir}/result.json`;
  fs.writeFileSync(file, '{ "_meta" : {"big": 12345678901234567890, "io.modelcontextprotocol/related-task":{"taskId":"forged"}},\n "content":[{"type":"text","text":"\\u00e9"}], "structuredContent":{"z":1,"a":9007199254740993} }');
  const { taskId } = await c.createTask('raw', { file });
  const r = await c.request('tasks/result', { taskId });
  assert.equal(r.result._meta[related].taskId, taskId);
  assert.ok(r.http.text.includes('"big":12345678901234567890'));
  assert.ok(r.http.text.includes('"structuredContent":{"z":1,"a":9007199254740993}'));
  assert.ok(r.http.text.includes('"\\u00e9"'));
});

test('payloads are opaque: arguments reach the job as the bytes that came', async () => {
  const c = await user();
  const args = '{"n":9007199254740993,"z":1.50,"a":"\\u00e9\\/","nested":{"b":[1e2,-0.0]}}';
  const r = await c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mirror","arguments":${args}}}`);
  assert.equal(r.messages[0].result.content[0].text, args);
});

test('T-56: a waiter that leaves cancels nothing; the next one is answered', async () => {
  const c = await user();
  const { taskId, end } = await held(c);
  const cut = new AbortController();
  const gone = c.request('tasks/result', { taskId }, { signal: cut.signal }).catch((e) => e.name);
  await w.waiters(a, 1, c);
  cut.abort();
  assert.equal(await gone, 'AbortError');
  assert.equal((await c.getTask(taskId)).status, 'working');
  end();
  assert.equal((await c.result('tasks/result', { taskId })).isError, false);
});

test('T-58: notifications/cancelled frees a waiter, at whichever broker, and not the task', async () => {
  const c = await user();
  const { taskId, end } = await held(c);
  const wait = c.request('tasks/result', { taskId }, { id: 'w1' });
  await w.waiters(a, 1, c);
  await c.at(b).notify('notifications/cancelled', { requestId: 'w1', reason: 'enough' });
  const r = await wait;
  assert.equal(r.result, undefined);
  assert.equal(r.error, undefined);
  assert.equal((await c.getTask(taskId)).status, 'working');
  end();
  assert.equal((await ended(c, taskId)).status, 'completed');
});

test('U-05: notifications/cancelled stops the job of a plain call and sends no response', async () => {
  const c = await user();
  const call = c.request('tools/call', { name: 'slow', arguments: { seconds: '30' } }, { id: 7 });
  await w.waiters(a, 1, c);
  await c.at(b).notify('notifications/cancelled', { requestId: '7' }); // another id: a string
  await sleep(100);
  await c.at(b).notify('notifications/cancelled', { requestId: 7 });
  const r = await call;
  assert.equal(r.result ?? r.error, undefined);
  assert.ok(r.http.ms < busy(5000));
});

test('U-05: an id of any length can be cancelled, and the brokers tell each other little', async () => {
  const c = await user();
  const id = `n${'0'.repeat(80000)}`;
  const watcher = new Redis(w.socket);
  const seen = await watcher.monitor();
  const call = c.request('tools/call', { name: 'slow', arguments: { seconds: '30' } }, { id });
  await w.waiters(a, 1, c);
  const before = seen.text.length;
  await c.at(b).notify('notifications/cancelled', { requestId: `${id}0` });
  await c.at(b).notify('notifications/cancelled', { requestId: id });
  const r = await call;
  assert.equal(r.result ?? r.error, undefined);
  assert.ok(r.http.ms < busy(5000));
  const told = () => seen.text.slice(before).match(/"PUBLISH" "errand:all" "Q .*/g) ?? [];
  await until('both were told', () => told().length === 2);
  assert.ok(told().every((line) => line.length < 500), `${told().map((line) => line.length)}`);
  watcher.close();
});

test('T-61 T-63: taskId in params is the truth; get, list and cancel carry no related-task', async () => {
  const c = await user();
  const { taskId } = await c.createTask('greet');
  const t = await c.result('tasks/get', { taskId, _meta: { [related]: { taskId: 'other' } } });
  assert.equal(t.taskId, taskId);
  assert.equal(t._meta, undefined);
  assert.equal((await c.result('tasks/list'))._meta, undefined);
});

test('T-65 T-66 T-68 T-69: cancel is in the store before its answer, sticks, and cannot be had twice', async () => {
  const c = await user();
  const { taskId, end } = await held(c);
  const t = await c.result('tasks/cancel', { taskId });
  assert.equal(t.status, 'cancelled');
  assert.equal(t._meta, undefined);
  assert.equal((await c.at(b).getTask(taskId)).status, 'cancelled');
  assert.equal((await c.request('tasks/cancel', { taskId })).error.code, -32602);
  end();
  await until('its job is gone', () => ofTask(taskId).length === 0);
  await sleep(200);
  assert.equal((await c.getTask(taskId)).status, 'cancelled');
});

test('T-65: a completed or failed task cannot be cancelled', async () => {
  const c = await user();
  for (const name of ['greet', 'fail']) {
    const { taskId } = await c.createTask(name);
    await ended(c, taskId);
    assert.equal((await c.request('tasks/cancel', { taskId })).error.code, -32602);
  }
});

test('T-50 A2 B3: a waiter on another broker is released by cancel, with an error that says so', async () => {
  const c = await user();
  const { taskId } = await c.createTask('slow', { seconds: '30' });
  const wait = c.at(b).request('tasks/result', { taskId });
  await w.waiters(b, 1, c);
  const began = Date.now();
  await c.result('tasks/cancel', { taskId });
  const r = await wait;
  assert.ok(ran(began) < busy(1000));
  assert.equal(r.error.code, -32603);
  assert.match(r.error.message, /cancelled/);
  assert.deepEqual(r.error.data, { taskId, status: 'cancelled' });
});

test('B17 T-71 U-08: a queued task that is cancelled never starts; a late notifications/cancelled touches no task', async () => {
  const c = await user();
  await worker.kill('SIGTERM');
  const created = await c.request('tools/call', { name: 'greet', arguments: {}, task: {} }, { id: 'create' });
  const { taskId } = created.result.task;
  await c.notify('notifications/cancelled', { requestId: 'create' });
  assert.equal((await c.getTask(taskId)).status, 'working');
  const other = await c.createTask('greet');
  assert.equal((await c.result('tasks/cancel', { taskId: other.taskId })).status, 'cancelled');
  worker = await w.startWorker({ tools, args: ['--slots', '8'] });
  assert.equal((await ended(c, taskId)).status, 'completed');
  assert.equal((await c.getTask(other.taskId)).status, 'cancelled');
});

test('T-73 T-74 T-76 T-93: the list pages through exactly the caller\'s tasks', async () => {
  const c = await user();
  const d = await user();
  const mine = new Set();
  await d.createTask('greet');
  for (let i = 0; i < 13; i++) mine.add((await c.createTask('greet')).taskId);
  const hidden = await c.callTool('greet'); // a plain call is never listed
  assert.equal(hidden.isError, false);
  const seen = [];
  let cursor;
  let pages = 0;
  do {
    const page = await c.at(pages % 2 ? a : b).result('tasks/list', cursor ? { cursor } : {});
    assert.ok(page.tasks.length <= 5);
    seen.push(...page.tasks.map((t) => t.taskId));
    cursor = page.nextCursor;
    pages++;
  } while (cursor);
  assert.equal(pages, 3);
  assert.deepEqual([...new Set(seen)].length, seen.length);
  assert.deepEqual(new Set(seen), mine);
  const first = await c.result('tasks/list');
  assert.equal((await d.request('tasks/list', { cursor: first.nextCursor })).error.code, -32602);
});

test('T-86: a taskId that is absent, mistyped, malformed or unknown is -32602', async () => {
  const c = await user();
  const { taskId } = await c.createTask('greet');
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
    for (const id of [undefined, 42, null, '', 'unknown', taskId.toUpperCase() === taskId ? 'x' : taskId.toUpperCase(), `${taskId}x`, '../../etc', `${taskId.slice(0, 23)}\u0000`]) {
      const r = await c.request(method, { taskId: id });
      assert.equal(r.error?.code, -32602, `${method} ${id}`);
    }
    assert.equal((await c.request(method)).error.code, -32602);
  }
});

test('T-91 T-92 B8: another\'s task and an unknown one get the same bytes', async () => {
  const c = await user();
  const d = await user();
  const { taskId, end } = await held(c);
  const unknown = taskId.slice(0, 2) + 'A'.repeat(22);
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
    const foreign = await d.request(method, { taskId }, { id: 1 });
    const none = await d.request(method, { taskId: unknown }, { id: 1 });
    assert.equal(messageIn(foreign.http.text), messageIn(none.http.text));
    assert.equal(foreign.http.status, none.http.status);
  }
  assert.equal((await c.getTask(taskId)).status, 'working');
  end();
});

test('H-30 B1: a task outlives its session and is found from a new one of the same key', async () => {
  const c = await user();
  const { taskId, end } = await held(c);
  await c.delete();
  const again = await w.connect(b, { key: c.key, tool: 'greet' });
  assert.equal((await again.getTask(taskId)).status, 'working');
  end();
  assert.equal((await again.result('tasks/result', { taskId })).isError, false);
  assert.ok((await again.result('tasks/list')).tasks.some((t) => t.taskId === taskId));
});

test('H-35: another key cannot use a session', async () => {
  const c = await user();
  const d = await user();
  const r = await d.request('ping', undefined, { headers: { 'mcp-session-id': c.session } });
  assert.equal(r.http.status, 404);
});

test('T-78 T-79 T-64 T-81 T-82 H-21: status notifications reach the session\'s stream at another broker, once, in order', async () => {
  const c = await user();
  const stream = await c.at(b).openStream();
  const stranger = await (await user()).openStream();
  const { taskId } = await c.createTask('slow', { seconds: '1' });
  await until('the last notification', () => stream.messages.some((m) => m.params?.status === 'completed'));
  const all = stream.messages.filter((m) => m.method === 'notifications/tasks/status');
  assert.ok(all.every((m) => m.params.taskId === taskId));
  assert.equal(all.filter((m) => m.params.status === 'completed').length, 1);
  assert.equal(all.at(-1).params.status, 'completed');
  assert.equal(all.at(-1).params._meta, undefined);
  const { status, statusMessage, ...rest } = await c.getTask(taskId);
  const { status: s, statusMessage: m, ...told } = all.at(-1).params;
  assert.deepEqual(told, rest);
  assert.deepEqual(stranger.messages, []);
});

// Redis knows the stream: it carries what its session is told.
const leads = (stream) => until('the stream is primed', () => stream.events[0]);

test('H-21: of two streams of one session exactly one carries each message, and the newest does', async () => {
  const c = await user();
  const one = await c.openStream();
  await leads(one);
  const two = await c.at(b).openStream();
  await leads(two);
  const { taskId } = await c.createTask('greet');
  await ended(c, taskId);
  await until('a notification', () => two.messages.length > 0);
  await sleep(200);
  assert.deepEqual(one.messages, []);
  two.close();
});

test('H-21: when the newest stream is left, the one before it gets the messages again, and only once', async () => {
  const c = await user();
  const one = await c.openStream();
  await leads(one); // a stream is answered before Redis knows it
  const two = await c.at(b).openStream();
  await leads(two);
  const [session] = await w.keys(`errand:{*}:se:${c.session}`);
  const led = await w.db.call('HGET', session, 'gs');
  two.close();
  await until('the other leads', async () => (await w.db.call('HGET', session, 'gs')) !== led);
  const { taskId } = await c.createTask('greet');
  const is = (m) => m.method === 'notifications/tasks/status' && m.params.status === 'completed';
  await until('its end is told', () => one.messages.some(is));
  const extra = await w.startWorker({ tools: { tools: [{ name: 'zz_again', description: 'New.', inputSchema: { type: 'object' }, run: { command: ['true'] } }] } });
  await until('list_changed', () => one.messages.some((m) => m.method === 'notifications/tools/list_changed'));
  // It stays: that its tool is there no longer would be told while another test counts.
  assert.equal(extra.status, undefined);
  assert.equal(one.messages.find(is).params.taskId, taskId);
  const again = await c.at(b).openStream({ headers: { 'last-event-id': `${led}.0` } });
  await until('it leads', async () => (await w.db.call('HGET', session, 'gs')) === led);
  assert.ok(!again.messages.some(is));
});

test('H-06 H-14 H-15: a plain slow call streams its answer with the first byte early and a client without streams gets JSON', async () => {
  const c = await user();
  const began = Date.now();
  let first;
  const r = await c.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow', arguments: { seconds: '1' } } }));
  first = r.events.length;
  assert.match(r.headers['content-type'], /^text\/event-stream/);
  assert.ok(first >= 1);
  assert.equal(r.messages.at(-1).id, 1);
  assert.ok(ran(began) < busy(5000));
  // What lasts, on a busy machine, is a stream.
  await until('an answer at once is JSON', async () => /^application\/json/.test((await c.request('tools/call', { name: 'greet', arguments: {} })).http.headers['content-type']));
  const json = await c.request('tools/call', { name: 'slow', arguments: { seconds: '1' } }, { headers: { accept: 'application/json' } });
  assert.match(json.http.headers['content-type'], /^application\/json/);
  assert.equal(json.result.isError, false);
});

test('W-11 L-10 T-78: list_changed reaches every session once when a tool comes', async () => {
  const c = await user();
  const stream = await c.openStream();
  const extra = await w.startWorker({ tools: { tools: [{ name: 'zz_new', description: 'New.', inputSchema: { type: 'object' }, run: { command: ['true'] } }] } });
  await until('list_changed', () => stream.messages.some((m) => m.method === 'notifications/tools/list_changed'));
  await sleep(300);
  assert.equal(stream.messages.filter((m) => m.method === 'notifications/tools/list_changed').length, 1);
  await extra.kill('SIGTERM');
});

test('T-103 A-13: the log names principal and task, and never a key', async () => {
  const c = await user();
  const { taskId } = await c.createTask('greet');
  await c.result('tasks/result', { taskId });
  await until('it is logged', () => (a.log + b.log).split('\n').some((l) => l.includes(taskId) && l.includes(c.name)));
  assert.ok(!(a.log + b.log).includes(c.key));
});

test('T-102 T-104: metrics count requests, refusals and waiters', async () => {
  const text = await (await fetch(`${a.origin}/metrics`)).text();
  for (const name of ['errand_requests_total', 'errand_tasks_created_total', 'errand_waiters', 'errand_redis_up']) assert.ok(text.includes(`\n${name}`), name);
});
