// Rows of the 2025-11-25 revision that no other suite shows.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { World, bin, sleep, until } from '../lib/errand.mjs';

const w = new World();
let a;
let b;

const errand = path.join(bin, 'errand');
const tool = (name, script, more = {}) => ({ name, description: `${name}.`, inputSchema: { type: 'object' }, run: { command: ['sh', '-c', script, 'sh', ...(more.words ?? [])], ...(more.output ? { output: more.output } : {}) }, ...Object.fromEntries(Object.entries(more).filter(([k]) => k !== 'words' && k !== 'output')) });
const tools = {
  tools: [
    tool('quick', 'echo done'),
    tool('nap', 'sleep "$1"; echo done', { words: ['{seconds}'] }),
    tool('lost', 'exit 0', { attempts: 1 }),
    tool('structured', 'echo \'{"z":1,"a":[true,null]}\'', { output: 'json' }),
    tool('asks', `${errand} ask --message 'Name?' --field name:string`, { taskSupport: 'optional' }),
    tool('logs', `for l in debug info warning error; do ${errand} log $l "at $l"; done; sleep 0.2; echo done`),
    tool('asks_and_tells', `${errand} ask --message 'Name?' --field name:string & sleep 0.3; ${errand} progress 1 2; wait`),
    tool('speaks', 'sleep 0.3; echo "said it"', { immediateResponse: 'It has begun.' }),
  ],
};
// A command that is not there fails in passing; with one attempt that is a JSON-RPC error.
tools.tools[2].run.command = ['/nonexistent/program'];

before(async () => {
  await w.startRedis();
  const args = ['--auth', 'key', '--rate', '0', '--ask-timeout', '3s'];
  [a, b] = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  await w.startWorker({ tools, args: ['--slots', '16'] });
});
after(() => w.stop());

let made = 0;
const user = async (options = {}) => w.connect(options.at ?? a, { key: options.key ?? await w.newKey(`r${made++}`), tool: 'quick', ...options });
const related = 'io.modelcontextprotocol/related-task';
const final = ['completed', 'failed', 'cancelled'];
const status = async (c, taskId) => (await c.getTask(taskId)).status;

test('T-28 T-29 T-30 U-07: cancel and finish race 150 times; what is final stays, and each edge is allowed', { timeout: 120000 }, async () => {
  const c = await user();
  const stream = await c.openStream();
  const ends = new Map();
  await Promise.all(Array.from({ length: 150 }, async (_, i) => {
    const { taskId } = await c.createTask('nap', { seconds: '0.2' });
    await sleep(150 + (i % 20) * 8);
    const r = await c.at(i % 2 ? a : b).request('tasks/cancel', { taskId });
    await until('final', async () => final.includes(await status(c, taskId)));
    ends.set(taskId, await status(c, taskId));
    if (r.result) assert.equal(ends.get(taskId), 'cancelled');
    else assert.equal(r.error.code, -32602);
  }));
  await sleep(500);
  for (const [taskId, end] of ends) assert.equal(await status(c.at(b), taskId), end);
  const lastTold = (taskId) => stream.messages.findLast((m) => m.params?.taskId === taskId)?.params.status;
  await until('the ends are told', () => [...ends].every(([taskId, end]) => [undefined, end].includes(lastTold(taskId))));
  const told = new Map();
  for (const m of stream.messages.filter((x) => x.method === 'notifications/tasks/status')) {
    const before = told.get(m.params.taskId) ?? [];
    assert.ok(!before.some((s) => final.includes(s)), 'nothing follows a final state');
    told.set(m.params.taskId, [...before, m.params.status]);
  }
  for (const [taskId, seen] of told) assert.equal(seen.at(-1), ends.get(taskId));
});

test('T-49 T-52: a job that ends as a JSON-RPC error gives the same error by tasks/result, under the id of the asker', async () => {
  const c = await user();
  const plain = await c.request('tools/call', { name: 'lost', arguments: {} });
  const { taskId } = await c.createTask('lost');
  const r = await c.request('tasks/result', { taskId }, { id: 'mine' });
  assert.equal(r.id, 'mine');
  assert.deepEqual(r.error, plain.error);
  assert.ok(Number.isInteger(r.error.code) && r.error.message);
  assert.equal(await status(c, taskId), 'failed');
  assert.ok((await c.getTask(taskId)).statusMessage);
});

test('W-07 W-05: structured content is an object, and stands as text too', async () => {
  const c = await user();
  const r = await c.callTool('structured');
  assert.deepEqual(JSON.parse(r.content[0].text), r.structuredContent);
});

test('T-18: what a tool says at once comes with the handle', async () => {
  const c = await user();
  const r = await c.result('tools/call', { name: 'speaks', arguments: {}, task: {} });
  assert.equal(r._meta['io.modelcontextprotocol/model-immediate-response'], 'It has begun.');
});

// --- questions ---

const answer = (c, id, content = { name: 'Ada' }, action = 'accept') => c.post(JSON.stringify({ jsonrpc: '2.0', id, result: { action, content } }));
const asked = (messages) => messages.filter((m) => m.method === 'elicitation/create');

test('T-04 T-31 T-32 T-33 T-35 T-37 T-38 T-59 B15: asked on the GET stream of one broker, answered at the other, without _meta', async () => {
  const c = await user({ capabilities: { elicitation: {} } });
  const stream = await c.at(b).openStream();
  const { taskId } = await c.createTask('asks');
  await until('asked', () => asked(stream.messages).length === 1);
  const q = asked(stream.messages)[0];
  assert.equal(q.params._meta[related].taskId, taskId);
  assert.equal(await status(c, taskId), 'input_required');
  assert.equal((await answer(c, q.id)).status, 202);
  const r = await c.result('tasks/result', { taskId });
  assert.match(r.content[0].text, /Ada/);
  assert.equal(asked(stream.messages).length, 1);
});

test('T-83: what a job tells is not held up by what it asks', async () => {
  const c = await user({ capabilities: { elicitation: {} } });
  const stream = await c.openStream();
  const { taskId } = await c.createTask('asks_and_tells', {}, { meta: { progressToken: 'p' } });
  await until('asked', () => asked(stream.messages).length === 1);
  await until('told', () => stream.messages.some((m) => m.method === 'notifications/progress'));
  assert.equal(await status(c, taskId), 'input_required');
  await answer(c, asked(stream.messages)[0].id);
  assert.match((await c.result('tasks/result', { taskId })).content[0].text, /Ada/);
});

test('A7 A8 T-36 H-21 J-06: a waiting tasks/result is asked anew under a fresh id; the first answer wins, later ones are ignored', async () => {
  const c = await user({ capabilities: { elicitation: {} } });
  const stream = await c.openStream();
  const { taskId } = await c.createTask('asks');
  await until('asked', () => asked(stream.messages).length === 1);
  const seen = [];
  const wait = c.at(b).result('tasks/result', { taskId }, { onMessage: (m) => seen.push(m) });
  await until('asked again', () => asked(seen).length === 1);
  const [first, second] = [asked(stream.messages)[0].id, asked(seen)[0].id];
  assert.notEqual(first, second);
  await answer(c, second, { name: 'second' });
  await answer(c, first, { name: 'first' });
  await answer(c, second, { name: 'third' });
  assert.match((await wait).content[0].text, /second/);
});

test('E-01 L-12 L-16: a client that cannot be asked is not; the job gets an error, and no one hangs', async () => {
  const c = await user();
  const stream = await c.openStream();
  const { taskId } = await c.createTask('asks');
  const r = await c.result('tasks/result', { taskId });
  assert.equal(r.isError, true);
  assert.deepEqual(asked(stream.messages), []);
});

test('T-110 L-15 E-18: a question nobody answers ends in time: the job gets an error, the client is told that it is off', async () => {
  const c = await user({ capabilities: { elicitation: {} } });
  const stream = await c.openStream();
  const { taskId } = await c.createTask('asks');
  await until('asked', () => asked(stream.messages).length === 1);
  await until('it ends', async () => final.includes(await status(c, taskId)), 8000);
  await until('told', () => stream.messages.some((m) => m.method === 'notifications/cancelled' && m.params.requestId === asked(stream.messages)[0].id));
});

test('T-72: cancelling a task that waits for an answer ends it; a late answer is ignored', async () => {
  const c = await user({ capabilities: { elicitation: {} } });
  const stream = await c.openStream();
  const { taskId } = await c.createTask('asks');
  await until('asked', () => asked(stream.messages).length === 1);
  assert.equal((await c.result('tasks/cancel', { taskId })).status, 'cancelled');
  assert.equal((await answer(c, asked(stream.messages)[0].id)).status, 202);
  await sleep(200);
  assert.equal(await status(c, taskId), 'cancelled');
});

test('E-07 H-35: another user\'s answer to the id of a question is ignored', async () => {
  const c = await user({ capabilities: { elicitation: {} } });
  const d = await user({ capabilities: { elicitation: {} } });
  const stream = await c.openStream();
  const { taskId } = await c.createTask('asks');
  await until('asked', () => asked(stream.messages).length === 1);
  const { id } = asked(stream.messages)[0];
  assert.equal((await answer(d, id, { name: 'Eve' })).status, 202);
  await sleep(300);
  assert.equal(await status(c, taskId), 'input_required');
  await answer(c, id);
  assert.match((await c.result('tasks/result', { taskId })).content[0].text, /Ada/);
});

test('E-06: an answer that does not fit what was asked for is never trusted', async () => {
  const c = await user({ capabilities: { elicitation: {} } });
  const stream = await c.openStream();
  const { taskId } = await c.createTask('asks');
  await until('asked', () => asked(stream.messages).length === 1);
  await answer(c, asked(stream.messages)[0].id, { name: { nested: true } });
  const r = await c.result('tasks/result', { taskId });
  assert.doesNotMatch(r.content[0].text, /nested/);
  assert.equal(r.isError, true);
});

test('E-05 E-13: decline, cancel and an error reach the job as such', async () => {
  for (const [reply, want] of [[{ result: { action: 'decline' } }, /exit(ed with)? status 3/], [{ result: { action: 'cancel' } }, /exit(ed with)? status 4/], [{ error: { code: -32602, message: 'no such mode' } }, /no such mode/]]) {
    const c = await user({ capabilities: { elicitation: {} } });
    const stream = await c.openStream();
    const { taskId } = await c.createTask('asks');
    await until('asked', () => asked(stream.messages).length === 1);
    await c.post(JSON.stringify({ jsonrpc: '2.0', id: asked(stream.messages)[0].id, ...reply }));
    const r = await c.result('tasks/result', { taskId });
    assert.equal(r.isError, true);
    assert.match(r.content[0].text, want);
  }
});

test('T-107 J-06: ids of our requests are never alike, at whichever broker', async () => {
  const c = await user({ capabilities: { elicitation: {} } });
  const stream = await c.openStream();
  await Promise.all(Array.from({ length: 12 }, (_, i) => c.at(i % 2 ? a : b).createTask('asks')));
  await until('asked', () => asked(stream.messages).length === 12);
  assert.equal(new Set(asked(stream.messages).map((m) => m.id)).size, 12);
  for (const m of asked(stream.messages)) await answer(c, m.id);
});

test('U-14 L-13 B10: a session\'s log level holds at every broker', async () => {
  const c = await user();
  const levels = async () => {
    const stream = await c.openStream();
    await until('open', () => stream.events.length > 0);
    const { taskId } = await c.createTask('logs');
    await until('ended', () => stream.messages.some((m) => m.params?.taskId === taskId && m.params.status === 'completed'));
    const got = stream.messages.filter((m) => m.method === 'notifications/message');
    for (const m of got) assert.equal(m.params._meta[related].taskId, taskId);
    stream.close();
    return got.map((m) => m.params.level);
  };
  await c.at(b).result('logging/setLevel', { level: 'error' });
  assert.deepEqual(await levels(), ['error']);
  await c.result('logging/setLevel', { level: 'debug' });
  assert.deepEqual(await levels(), ['debug', 'info', 'warning', 'error']);
});

test('W-03: a tool\'s name is plain and its own', async () => {
  for (const name of ['has space', 'a,b', '', 'x'.repeat(65), 'é']) {
    const bad = await w.startWorker({ tools: { tools: [{ ...tools.tools[0], name }] }, ready: false });
    assert.equal(await bad.ended, 2, name);
  }
});

test('T-94 T-95 T-101: the pages say what anonymous access means, and name the limits', () => {
  const page = (name) => fs.readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
  assert.match(page('security.md'), /only secret/);
  for (const option of ['--max-ttl', '--default-ttl', '--max-active', '--max-running', '--rate']) assert.ok(page('security.md').includes(option));
});
