// Rows of the 2026-07-28 revision that no other suite shows: questions in rounds, tasks that ask,
// subscriptions, and clients of both dialects on one task.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { World, bin, busy, ran, sleep, until } from '../lib/errand.mjs';
import { exchange } from '../lib/client.mjs';
import { Modern } from '../lib/modern.mjs';

const w = new World();
let a;
let b;

const errand = path.join(bin, 'errand');
const ask = (message, field) => `${errand} ask --message '${message}' --field ${field}`;
// A question written by hand on the control channel, to ask two at once.
const raw = (field) => `printf '%s\\n' '${JSON.stringify({ jsonrpc: '2.0', id: field, method: 'elicitation/create', params: { mode: 'form', message: `${field}?`, requestedSchema: { type: 'object', properties: { [field]: { type: 'string' } } } } })}'`;
// One of 900 KB.
const large = `{ printf '{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"mode":"form","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}},"message":"'; head -c 900000 /dev/zero | tr '\\0' x; printf '"}}\\n'; } >&3; read -r x <&3; echo "$x"`;
const tool = (name, script, more = {}) => ({ name, description: `${name}.`, inputSchema: { type: 'object' }, run: { command: ['sh', '-c', script] }, pollInterval: '100ms', ...more });
const tools = {
  tools: [
    tool('quick', 'echo done'),
    tool('asks', ask('Name?', 'name:string')),
    tool('asks_twice', `a=$(${ask('First?', 'one:string')}); b=$(${ask('Second?', 'two:string')}); echo "$a $b"`),
    tool('asks_as_task', `echo run >>"$ERRAND_COUNT"; ${raw('name')} >&3; ${raw('colour')} >&3; read -r x <&3; read -r y <&3; echo both`, { taskSupport: 'required', env: ['ERRAND_COUNT'] }),
    tool('asks_much', large),
    tool('asks_much_as_task', `sleep 0.5; ${large}`, { taskSupport: 'required' }),
    tool('progresses', `for i in 1 2 3; do ${errand} progress $i 3; ${errand} log info "at $i"; sleep 0.3; done; echo done`, { promoteAfter: '5s' }),
    tool('lost', 'exit 0', { taskSupport: 'required', attempts: 1 }),
    tool('nap', 'sleep 0.3; echo done', { taskSupport: 'required' }),
  ],
};
tools.tools.find((t) => t.name === 'lost').run.command = ['/nonexistent/program'];

before(async () => {
  await w.startRedis();
  const args = ['--auth', 'key', '--rate', '0', '--ask-timeout', '60s'];
  [a, b] = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  await w.startWorker({ tools, args: ['--slots', '16'], env: { ERRAND_COUNT: `${w.dir}/count` } });
  for (const x of [a, b]) await w.connect(x, { key: await w.newKey(`first-${x.port}`), tool: 'quick' });
});
after(() => w.stop());

let made = 0;
async function user({ elicitation = true, ...options } = {}) {
  const c = new Modern(a.url, { key: await w.newKey(`m${made++}`), capabilities: elicitation ? { elicitation: {} } : {}, ...options });
  w.clients.push(c);
  return c;
}
const accept = (content) => ({ action: 'accept', content });
const onlyKey = (r) => Object.keys(r.inputRequests)[0];
const retry = (c, name, first, inputResponses, more = {}) => c.result('tools/call', { name, arguments: {}, requestState: first.requestState, inputResponses, ...more });
const ended = (c, taskId) => until('the end', async () => {
  const t = await c.get(taskId);
  return ['completed', 'failed', 'cancelled'].includes(t.status) && t;
});

test('M-01 M-02 M-05: a call that asks is answered with its questions and a state; coming back at another broker ends it', async () => {
  const c = await user();
  const first = await c.call('asks');
  assert.equal(first.resultType, 'input_required');
  const key = onlyKey(first);
  assert.equal(first.inputRequests[key].method, 'elicitation/create');
  assert.equal(first.taskId, undefined);
  const r = await retry(c.at(b), 'asks', first, { [key]: accept({ name: 'Ada' }), extra: accept({}) });
  assert.equal(r.resultType, 'complete');
  assert.match(r.content[0].text, /Ada/);
});

test('M-05: missing and malformed answers are asked for again, unknown keys ignored', async () => {
  const c = await user();
  let r = await c.call('asks');
  const key = onlyKey(r);
  for (const responses of [undefined, {}, { other: accept({ name: 'x' }) }, { [key]: 12345 }, { [key]: null }]) {
    r = await retry(c, 'asks', r, responses);
    assert.equal(r.resultType, 'input_required', JSON.stringify(responses));
    assert.deepEqual(Object.keys(r.inputRequests), [key]);
  }
  assert.match((await retry(c, 'asks', r, { [key]: accept({ name: 'Ada' }) })).content[0].text, /Ada/);
});

test('M-05 X-15: more answers than a job can have asked for are refused, before any of them is looked at', async () => {
  const c = await user({ tasks: true });
  const first = await c.call('asks');
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, {}]));
  const t = await c.call('nap');
  for (const [method, params] of [['tools/call', { name: 'asks', arguments: {}, requestState: first.requestState }], ['tasks/update', { taskId: t.taskId }]]) {
    const r = await c.request(method, { ...params, inputResponses: many });
    assert.equal(r.error?.code, -32602);
    assert.match(r.error.message, /256/);
  }
  assert.equal((await retry(c, 'asks', first, { [onlyKey(first)]: accept({ name: 'Ada' }) })).resultType, 'complete');
});

test('M-01 X-09 X-19: a question that is larger than a request may be reaches its client whole', async () => {
  const size = (r) => r.inputRequests[onlyKey(r)].params.message.length;
  const extra = await w.startBroker({ args: ['--auth', 'key', '--rate', '0', '--max-body', '64k'] });
  const first = await (await user()).at(extra).call('asks_much');
  assert.equal(size(first), 900000);
  const c = (await user({ tasks: true })).at(extra);
  const t = await c.call('asks_much_as_task');
  const s = await c.listen({ taskIds: [t.taskId] });
  await until('the question is told', () => s.messages.some((m) => m.params?.inputRequests));
  assert.equal(size(s.messages.find((m) => m.params?.inputRequests).params), 900000);
  assert.equal(size(await c.get(t.taskId)), 900000);
  s.close();
  await extra.kill();
});

test('M-01 M-02 X-14: two rounds, with a state and a key of its own in each', async () => {
  const c = await user();
  const one = await c.call('asks_twice');
  const two = await retry(c, 'asks_twice', one, { [onlyKey(one)]: accept({ one: '1st' }) });
  assert.equal(two.resultType, 'input_required');
  assert.notEqual(onlyKey(two), onlyKey(one));
  assert.notEqual(two.requestState, one.requestState);
  const r = await retry(c, 'asks_twice', two, { [onlyKey(two)]: accept({ two: '2nd' }) });
  assert.match(r.content[0].text, /1st.*2nd/s);
});

test('M-04: a state that was tampered with, or is another\'s, another call\'s or none, is refused', async () => {
  const c = await user();
  const d = await user();
  const first = await c.call('asks');
  const responses = { [onlyKey(first)]: accept({ name: 'x' }) };
  const state = first.requestState;
  for (const [who, name, bad, args] of [[c, 'asks', `${state}x`, {}], [c, 'asks', state.slice(0, -1), {}], [c, 'asks', '', {}], [d, 'asks', state, {}], [c, 'asks_twice', state, {}], [c, 'asks', state, { other: 1 }], [c, 'asks', 5, {}]]) {
    const r = await who.request('tools/call', { name, arguments: args, requestState: bad, inputResponses: responses });
    assert.equal(r.error?.code, -32602, String(bad).slice(-5));
  }
  assert.equal((await retry(c, 'asks', first, responses)).resultType, 'complete');
});

test('M-06: declining reaches the job as such', async () => {
  const c = await user();
  const first = await c.call('asks');
  const r = await retry(c, 'asks', first, { [onlyKey(first)]: { action: 'decline' } });
  assert.equal(r.isError, true);
});

test('M-03 S-01 S-04 X-28: what a request did not declare is not asked of it, whatever an earlier one declared', async () => {
  const c = await user();
  assert.equal((await c.call('asks')).resultType, 'input_required');
  const bare = await user({ elicitation: false, key: c.key });
  const r = await bare.call('asks');
  assert.equal(r.resultType, 'complete');
  assert.equal(r.isError, true);
});

test('X-09 X-10 X-14 X-15 B15: a task lists all its questions; they are answered in two parts at two brokers, once each', async () => {
  const fs = await import('node:fs');
  const c = await user({ tasks: true });
  const t = await c.call('asks_as_task');
  assert.equal(t.resultType, 'task');
  const asked = await until('both asked', async () => {
    const now = await c.get(t.taskId);
    return Object.keys(now.inputRequests ?? {}).length === 2 && now;
  });
  const [one, two] = Object.keys(asked.inputRequests);
  const field = (k) => Object.keys(asked.inputRequests[k].params.requestedSchema.properties)[0];
  const ack = await c.at(b).result('tasks/update', { taskId: t.taskId, inputResponses: { [one]: accept({ [field(one)]: 'x' }) } });
  assert.deepEqual(Object.keys(ack).sort(), ['_meta', 'resultType']);
  const partly = await c.get(t.taskId);
  assert.equal(partly.status, 'input_required');
  assert.deepEqual(Object.keys(partly.inputRequests), [two]);
  await c.result('tasks/update', { taskId: t.taskId, inputResponses: { [one]: accept({ [field(one)]: 'again' }), unknown: accept({}), [two]: accept({ [field(two)]: 'y' }) } });
  const d = await ended(c, t.taskId);
  assert.match(d.result.content[0].text, /both/);
  assert.equal(fs.readFileSync(`${w.dir}/count`, 'utf8').trim(), 'run');
});

test('X-10 X-12: a JSON-RPC error ends a task as failed, with the error and a message', async () => {
  const c = await user({ tasks: true });
  const t = await c.call('lost');
  const d = await ended(c, t.taskId);
  assert.equal(d.status, 'failed');
  assert.ok(Number.isInteger(d.error.code));
  assert.ok(d.statusMessage);
  assert.equal(d.result, undefined);
});

test('C-06 C-05 HX-04: progress and logs go on the call\'s own stream, as asked, before its answer', async () => {
  const c = await user();
  const r = await c.request('tools/call', { name: 'progresses', arguments: {} }, { meta: { progressToken: 7, 'io.modelcontextprotocol/logLevel': 'info' } });
  const told = r.http.messages.filter((m) => m.method === 'notifications/progress');
  assert.deepEqual(told.map((m) => m.params.progress), [1, 2, 3]);
  assert.ok(told.every((m) => m.params.progressToken === 7));
  assert.equal(r.http.messages.filter((m) => m.method === 'notifications/message').length, 3);
  assert.ok(r.http.messages.every((m) => !(m.method && m.id !== undefined)));
  assert.equal(r.http.messages.at(-1).result.resultType, 'complete');
  assert.ok(r.http.events.every((e) => e.id === undefined));
  const quiet = await c.request('tools/call', { name: 'progresses', arguments: {} });
  assert.deepEqual(quiet.http.messages.filter((m) => m.method), []);
  assert.equal((await c.request('tools/call', { name: 'quick', arguments: {} }, { meta: { 'io.modelcontextprotocol/logLevel': 'loud' } })).error.code, -32602);
});

test('B-06 B-07: every listener is told that the tools changed, with its own id', async () => {
  const c = await user();
  const one = await c.listen({ toolsListChanged: true }, { id: 1 });
  const two = await c.at(b).listen({ toolsListChanged: true }, { id: 'two' });
  const none = await c.listen({}, { id: 3 });
  const extra = await w.startWorker({ tools: { tools: [tool('zz_new', 'true')] } });
  for (const s of [one, two]) {
    await until('told', () => s.messages.some((m) => m.method === 'notifications/tools/list_changed'));
    assert.equal(s.messages.at(-1).params._meta['io.modelcontextprotocol/subscriptionId'], s.id);
  }
  assert.equal(none.messages.length, 1);
  await extra.kill('SIGTERM');
});

test('S-07 S-09 S-10 HX-03: one connection carries interleaved work of all kinds; ids may be used again', async () => {
  const c = await user();
  const all = await Promise.all(Array.from({ length: 20 }, (_, i) => c.request(i % 2 ? 'tools/list' : 'server/discover', {}, { id: 1 })));
  assert.ok(all.every((r) => r.id === 1 && r.result));
  for (const id of [null, 1.5, {}]) {
    const r = await c.request('tools/list', {}, { id });
    assert.equal(r.error.code, -32600);
  }
  const n = await exchange(a.url, { headers: c.headers('notifications/x', {}), body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x', params: { _meta: c.meta() } }) });
  assert.equal(n.status, 202);
  assert.equal(n.body.length, 0);
});

test('HX-02 S-12: Origin and credential are looked at before anything else', async () => {
  const c = await user();
  assert.equal((await c.request('server/discover', {}, { headers: { origin: 'http://evil.example' } })).http.status, 403);
  assert.equal((await c.request('server/discover', {}, { headers: { authorization: undefined } })).http.status, 401);
});

test('HX-12 HX-13 C-04 C-07: errors are told in their order, and those of the call itself on HTTP 200', async () => {
  const c = await user();
  const codes = async (params, options) => {
    const r = await c.request('tools/call', params, options);
    return [r.http.status, r.error.code];
  };
  assert.deepEqual(await codes({ name: 'nope' }, { headers: { 'mcp-protocol-version': '1999-01-01', 'mcp-method': 'x' } }), [400, -32020]);
  assert.deepEqual(await codes({ name: 'nope' }, { headers: { 'mcp-method': 'x' } }), [400, -32020]);
  assert.deepEqual(await codes({ name: 'nope' }), [200, -32602]);
  const r = await c.request('tools/list', { cursor: 'junk' });
  assert.equal(r.error.code, -32602);
});

test('Z-02 Z-03: the dialect is told by the message itself', async () => {
  const c = await user();
  const old = await c.request('tools/list', {}, { meta: { 'io.modelcontextprotocol/protocolVersion': '2025-11-25' }, headers: { 'mcp-protocol-version': '2025-11-25' } });
  assert.equal(old.error.code, -32022);
  assert.equal(old.http.headers['mcp-session-id'], undefined);
  const init = await c.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } });
  assert.equal(init.http.status, 404);
  const header = await c.request('tools/list', {}, { bare: true });
  assert.equal(header.error.code, -32602);
  const l = await w.connect(a, { key: c.key, tool: 'quick' });
  assert.ok(await l.result('tools/list', {}, { headers: { 'mcp-method': 'tools/list' } }));
});

test('B18: 200 handles at once', async () => {
  const c = await user({ tasks: true });
  const began = Date.now();
  const all = await Promise.all(Array.from({ length: 200 }, () => c.call('nap')));
  assert.ok(ran(began) < busy(8000));
  assert.equal(new Set(all.map((t) => t.taskId)).size, 200);
  for (const t of all.slice(0, 20)) assert.equal((await ended(c, t.taskId)).status, 'completed');
});

test('Q2 B15 X-15: a client of each dialect on one task: whoever answers first has answered', { timeout: 60000 }, async () => {
  const key = await w.newKey('mixed');
  const m = await user({ tasks: true, key });
  const l = await w.connect(b, { key, tool: 'quick', capabilities: { elicitation: {} } });
  const stream = await l.openStream();
  for (let i = 0; i < 10; i++) {
    const { taskId } = await l.createTask('asks');
    const now = await until('asked', async () => {
      const t = await m.get(taskId);
      return t.status === 'input_required' && t;
    });
    const question = await until('asked here too', () => stream.messages.find((x) => x.method === 'elicitation/create' && x.id.startsWith(taskId)));
    await Promise.all([
      l.post(JSON.stringify({ jsonrpc: '2.0', id: question.id, result: accept({ name: 'from-l' }) })),
      m.result('tasks/update', { taskId, inputResponses: { [onlyKey(now)]: accept({ name: 'from-m' }) } }),
    ]);
    const d = await ended(m, taskId);
    const r = await l.result('tasks/result', { taskId });
    assert.equal(d.result.content[0].text, r.content[0].text);
    assert.match(r.content[0].text, /from-[lm]/);
  }
});

test('Q2 T-29 X-17: cancel from one dialect and finish race; both see one end, and it stays', { timeout: 60000 }, async () => {
  const key = await w.newKey('mixed2');
  const m = await user({ tasks: true, key });
  const l = await w.connect(b, { key, tool: 'quick' });
  await Promise.all(Array.from({ length: 40 }, async (_, i) => {
    const { taskId } = await m.call('nap');
    await sleep(250 + (i % 10) * 10);
    await (i % 2 ? m.result('tasks/cancel', { taskId }) : l.request('tasks/cancel', { taskId }));
    const d = await ended(m, taskId);
    const t = await l.getTask(taskId);
    assert.equal(t.status, d.status);
    await sleep(300);
    assert.equal((await m.get(taskId)).status, d.status);
  }));
});
