// Questions, progress and log lines from running jobs, through brokers, to a client of the handshake
// dialect: U-09..U-16, E rows, T-31..T-36, T-105..T-110, and the example tools that ask.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { World, root, sleep, until } from '../lib/errand.mjs';
import { Modern } from '../lib/modern.mjs';

const w = new World();
let a;
let b;

const related = 'io.modelcontextprotocol/related-task';
const schema = { type: 'object' };
const say = (method, params) => `echo '${JSON.stringify({ jsonrpc: '2.0', method, params })}' >&3`;
const put = (id, method, params) => `echo '${JSON.stringify({ jsonrpc: '2.0', id, method, params })}' >&3; IFS= read -r l <&3; echo "$l"`;
const form = { message: 'How many?', requestedSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } };
const sample = { messages: [{ role: 'user', content: { type: 'text', text: 'x' } }], maxTokens: 5 };
const tool = (name, script) => ({ name, inputSchema: schema, run: { command: ['sh', '-c', script] }, timeout: '1m' });
const example = (file) => ({ name: file, inputSchema: schema, run: { command: [path.join(root, 'examples', file), 'the shed'] } });

const tools = {
  tools: [
    tool('ask', put(7, 'elicitation/create', form)),
    tool('sample', put('s', 'sampling/createMessage', sample)),
    tool('roots', put(1, 'roots/list', {})),
    tool('talk', [
      say('notifications/progress', { progress: 1, total: 3, message: 'one' }),
      say('notifications/progress', { progress: 1 }),
      say('notifications/message', { level: 'warning', logger: 'x', data: { a: 1 } }),
      say('notifications/message', { level: 'debug', data: 'unseen' }),
      'sleep 0.3',
      say('notifications/progress', { progress: 3, total: 3 }),
      'echo done',
    ].join('\n')),
    ...['ask.sh', 'ask.py', 'ask.mjs'].map(example),
  ],
};

before(async () => {
  await w.startRedis();
  [a, b] = await Promise.all([w.startBroker(), w.startBroker(), w.startWorker({ tools, args: ['--slots', '4'] })]);
});
after(() => w.stop());

const connect = (capabilities) => w.connect(a, { capabilities, tool: 'ask' });
const respond = (c, id, answer) => c.post(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
const accept = (content) => ({ result: { action: 'accept', content } });
const text = (r) => r.content[0].text;

// Answers requests as they come on a stream; says which there were.
function serve(c, stream, answers, at = c) {
  const seen = [];
  let next = 0;
  const timer = setInterval(() => {
    for (; next < stream.messages.length; next += 1) {
      const m = stream.messages[next];
      if (m.id === undefined || !m.method) continue;
      seen.push({ ...m, at: performance.now() });
      const answer = answers[m.method];
      const given = typeof answer === 'function' ? answer(m) : answer;
      if (given) respond(at, m.id, given).catch(() => {});
    }
  }, 10);
  seen.stop = () => clearInterval(timer);
  return seen;
}

const ended = (c, taskId) => until(`end of ${taskId}`, async () => {
  const t = await c.getTask(taskId);
  return ['completed', 'failed', 'cancelled'].includes(t.status) && t;
});

test('T-31 T-32 T-35: a question comes on the GET stream and is answered at another broker', async () => {
  const c = await connect({ elicitation: {} });
  const stream = await c.openStream();
  const task = await c.createTask('ask');
  const q = await until('the question', () => stream.messages.find((m) => m.method === 'elicitation/create'));
  assert.equal(q.params.message, 'How many?');
  assert.equal(q.params._meta[related].taskId, task.taskId);
  assert.equal(q.params.task, undefined); // T-06
  assert.equal((await c.getTask(task.taskId)).status, 'input_required');
  assert.equal((await respond(c.at(b), q.id, accept({ n: 3 }))).status, 202);
  await ended(c, task.taskId);
  const r = await c.result('tasks/result', { taskId: task.taskId });
  assert.deepEqual(JSON.parse(text(r)).result.content, { n: 3 });
  c.close();
});

test('T-33: a question comes before the response of tasks/result', async () => {
  const c = await connect({ elicitation: {} });
  const task = await c.createTask('ask');
  const messages = [];
  const r = await c.result('tasks/result', { taskId: task.taskId }, {
    onMessage: (m) => {
      messages.push(m);
      if (m.method === 'elicitation/create') respond(c, m.id, { result: { action: 'decline' } });
    },
  });
  assert.equal(messages[0].method, 'elicitation/create');
  assert.equal(JSON.parse(text(r)).result.action, 'decline'); // E-05
  c.close();
});

test('a plain call asks on its own stream, and names no task', async () => {
  const c = await connect({ sampling: {} });
  let asked;
  const r = await c.callTool('sample', {}, {
    onMessage: (m) => {
      if (m.method !== 'sampling/createMessage') return;
      asked = m;
      respond(c, m.id, { result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'hi' } } });
    },
  });
  assert.equal(asked.params._meta, undefined);
  assert.equal(JSON.parse(text(r)).result.content.text, 'hi');
  c.close();
});

test('E-01 E-14: what a client has not declared it is never asked', async () => {
  const c = await connect({});
  for (const name of ['ask', 'sample', 'roots']) {
    const r = await c.callTool(name, {}, { onMessage: (m) => assert.equal(m.method, undefined) });
    assert.equal(JSON.parse(text(r)).error.code, -32601);
  }
  c.close();
});

test('E-06 E-13: a wrong answer and an error of the client are errors for the job', async () => {
  const c = await connect({ elicitation: {} });
  for (const [answer, code] of [[accept({ n: 'x' }), -32603], [{ error: { code: -1, message: 'no' } }, -1]]) {
    const r = await c.callTool('ask', {}, { onMessage: (m) => m.method && respond(c, m.id, answer) });
    assert.equal(JSON.parse(text(r)).error.code, code);
  }
  c.close();
});

test('U-10 U-14 T-83 T-85: progress grows under its token, logs are of the level that was asked for', async () => {
  const c = await connect({});
  const got = [];
  const r = await c.callTool('talk', {}, { meta: { progressToken: 0 }, onMessage: (m) => got.push(m) });
  assert.equal(text(r), 'done\n');
  const progress = got.filter((m) => m.method === 'notifications/progress').map((m) => m.params);
  assert.deepEqual(progress, [{ progressToken: 0, progress: 1, total: 3, message: 'one' }, { progressToken: 0, progress: 3, total: 3 }]);
  const logs = got.filter((m) => m.method === 'notifications/message').map((m) => m.params);
  assert.deepEqual(logs, [{ level: 'warning', logger: 'x', data: { a: 1 } }]);
  assert.ok(got.at(-1).result); // U-12: nothing after the response
  c.close();
});

const hosts = { elicitation: {}, sampling: {}, tasks: { cancel: {}, requests: { elicitation: { create: {} }, sampling: { createMessage: {} } } } };
const status = (word, pollInterval = 300) => {
  const at = new Date().toISOString();
  return { taskId: 'mine', status: word, createdAt: at, lastUpdatedAt: at, ttl: 60000, pollInterval };
};

test('T-05 T-46 T-47 T-62 T-106: a task of the client is polled at its pace and its result fetched', async () => {
  const c = await connect(hosts);
  const stream = await c.openStream();
  let looks = 0;
  const seen = serve(c, stream, {
    'elicitation/create': { result: { task: status('working') } },
    'tasks/get': () => ({ result: status((looks += 1) < 3 ? 'working' : 'completed') }),
    'tasks/result': { result: { ...accept({ n: 9 }).result, _meta: { [related]: { taskId: 'mine' } } } },
  }, c.at(b));
  const task = await c.createTask('ask');
  await ended(c, task.taskId);
  seen.stop();
  assert.deepEqual(seen.map((m) => m.method), ['elicitation/create', 'tasks/get', 'tasks/get', 'tasks/get', 'tasks/result']);
  assert.ok(seen[0].params.task.ttl > 0);
  assert.equal(seen[0].params._meta[related].taskId, task.taskId); // T-60
  for (const m of seen.slice(1)) assert.deepEqual(m.params, { taskId: 'mine' });
  const gets = seen.filter((m) => m.method === 'tasks/get');
  for (let i = 1; i < gets.length; i += 1) assert.ok(gets[i].at - gets[i - 1].at >= 290);
  assert.equal(new Set(seen.map((m) => m.id)).size, seen.length); // T-107
  const r = await c.result('tasks/result', { taskId: task.taskId });
  assert.equal(JSON.parse(text(r)).result.content.n, 9);
  const { tasks } = await c.result('tasks/list').catch(() => ({ tasks: [] }));
  assert.ok(!tasks.some((t) => t.taskId === 'mine')); // T-109
  c.close();
});

test('T-72: a task of the client is cancelled with ours', async () => {
  const c = await connect(hosts);
  const stream = await c.openStream();
  const seen = serve(c, stream, {
    'sampling/createMessage': { result: { task: status('working', 60000) } },
    'tasks/cancel': { result: status('cancelled') },
  });
  const task = await c.createTask('sample');
  await until('the question', () => seen.length > 0);
  await until('it is hosted', async () => (await w.db.call('HKEYS', `errand:{0}:t:${task.taskId}`)).some((k) => k.startsWith('a:')));
  await c.result('tasks/cancel', { taskId: task.taskId });
  const m = await until('tasks/cancel', () => seen.find((s) => s.method === 'tasks/cancel'));
  assert.deepEqual(m.params, { taskId: 'mine' });
  seen.stop();
  c.close();
});

const calls = async () => Number(/cmdstat_fcall:calls=(\d+)/.exec(await w.db.call('INFO', 'commandstats'))[1]);

test('who joins a job whose question another client hosts waits for its end, and leaves Redis alone', async () => {
  const c = await connect(hosts);
  const meta = { 'dev.errand/idempotency-key': 'joined' };
  const stream = await c.openStream();
  const seen = serve(c, stream, { 'elicitation/create': { result: { task: status('working', 60000) } } });
  try {
    const { taskId } = await c.createTask('ask', {}, { meta });
    const record = `errand:{0}:t:${taskId}`;
    await until('it is hosted', async () => (await w.db.call('HKEYS', record)).some((k) => k.startsWith('a:')));
    const m = new Modern(b.url, { capabilities: { elicitation: {} } });
    w.clients.push(m);
    const joined = m.request('tools/call', { name: 'ask', arguments: {} }, { meta });
    await until('its broker waits', async () => (await w.db.call('HGET', record, 'wb')) !== null);
    const before = await calls();
    const began = Date.now();
    await sleep(1000);
    const rate = (1000 * ((await calls()) - before)) / (Date.now() - began);
    await c.result('tasks/cancel', { taskId });
    assert.match((await joined).error.message, /cancelled/);
    assert.ok(rate < 60, `${rate} calls a second`);
  } finally {
    seen.stop();
    c.close();
  }
});

for (const file of ['ask.sh', 'ask.py', 'ask.mjs']) {
  test(`the example ${file} asks and does as it is told`, async () => {
    const c = await connect({ elicitation: {} });
    for (const [answer, says] of [
      [accept({ sure: true }), 'the shed is clean'],
      [accept({ sure: false, note: 'not now' }), 'the shed is as it was'],
      [{ result: { action: 'decline' } }, 'the shed is as it was'],
    ]) {
      const got = [];
      const r = await c.callTool(file, {}, {
        meta: { progressToken: 'p' },
        onMessage: (m) => {
          got.push(m);
          if (m.method === 'elicitation/create') respond(c, m.id, answer);
        },
      });
      assert.ok(text(r).includes(says), text(r));
      assert.ok(got.some((m) => m.method === 'notifications/progress'));
    }
    c.close();
  });
}
