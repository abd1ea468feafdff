// MCP servers that exist already, as workers (B25): a scripted one on standard input and output.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { World, alive, below, lines, root, until } from '../lib/errand.mjs';
import { odd } from '../lib/stdio-server.mjs';

const w = new World();
const script = path.join(root, 'tests/lib/stdio-server.mjs');
let broker;
let worker;
let log;
let c;
let collision; // two calls of one server ask at once, and nobody can tell them apart

const server = (more = {}) => ({
  command: process.execPath, args: [script], env: { LOG: log, ONCE: path.join(w.dir, 'once') }, ...more,
});

before(async () => {
  await w.startRedis();
  broker = await w.startBroker({ args: ['--rate', '0'] });
  log = path.join(w.dir, 'said.log');
  worker = await w.startWorker({
    tools: {
      mcpServers: {
        s: server({
          prefix: 's_',
          tools: { deaf: { grace: '300ms' }, once: { backoff: '50ms' }, polite: { grace: '5s' } },
        }),
        own: server({ prefix: 'own_', allow: ['pid', 'env', 'deaf', 'meta', 'spill'], isolate: true, grace: '300ms', env: { LOG: log, SCHEME: 'own', SECRET: 'x${env:HIDDEN}y' } }),
        mix: server({ prefix: 'mix_', allow: ['ask', 'wait'], env: { LOG: log, SCHEME: 'mix' } }),
        late: server({ prefix: 'late_', allow: ['ask'], env: { LOG: log, SCHEME: 'late' } }),
        few: server({ prefix: 'few_', allow: ['e*', 'deaf'], deny: ['env'], env: { LOG: log, SCHEME: 'few' } }),
      },
    },
    args: ['--slots', '40'],
    env: { HIDDEN: 'seven' },
  });
  c = await w.connect(broker, { tool: 's_odd', capabilities: { elicitation: {}, sampling: {}, roots: {} } });
  for (const name of ['own_pid', 'few_echo', 'mix_ask', 'late_ask']) await listed(name);
  collision = Promise.all([1, 2].map(() => asking('late_ask', { ms: 1500 }, {})));
});
after(() => w.stop());

const listed = (name, there = true) => until(`${name} is listed: ${there}`, async () => (await allTools()).some((t) => t.name === name) === there);
async function allTools() {
  const all = [];
  let cursor;
  do {
    const page = await c.result('tools/list', cursor ? { cursor } : {});
    all.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor);
  return all;
}
const call = (name, args = {}, more = {}) => c.result('tools/call', { name, arguments: args, ...more });
const text = (r) => r.content[0].text;
const task = async (name, args = {}, options = {}) => (await call(name, args, { task: options })).task.taskId;
const status = async (taskId) => c.result('tasks/get', { taskId });
const ended = (taskId) => until('the task ends', async () => {
  const t = await status(taskId);
  return ['completed', 'failed', 'cancelled'].includes(t.status) && t;
});
const said = (what) => lines(log).filter((l) => l.includes(what));

test('B25 its tools appear with their schemas, titles, annotations, icons and _meta, byte for byte', async () => {
  const names = (await allTools()).map((t) => t.name);
  const body = (await c.request('tools/list')).http.text;
  assert.ok(body.includes(odd.replace('"name":"odd"', '"name":"s_odd"').slice(0, -1)), body);
  assert.ok(names.includes('s_tasked'), 'the second page is read, too');
  assert.ok(!names.includes('s_unsupported') && !names.includes('s_no name!'));
  assert.match(worker.log, /tool=unsupported/);
  assert.deepEqual(names.filter((n) => n.startsWith('own_')).sort(), ['own_deaf', 'own_env', 'own_meta', 'own_pid', 'own_spill']);
  assert.deepEqual(names.filter((n) => n.startsWith('few_')).sort(), ['few_deaf', 'few_echo', 'few_error']);
  const t = (await allTools()).find((x) => x.name === 's_tasked');
  assert.equal(t.execution.taskSupport, 'optional');
});

test('B25 arguments and results pass byte for byte, plain and as a task', async () => {
  const args = '{ "n":12345678901234567890,\t"a":1.50,"\\u0061b":"\\/", "z":{"b":1,"a":[]}}';
  const expect = `"structuredContent":{"got":${args}}`;
  const plain = await c.post(`{"jsonrpc":"2.0","id":900,"method":"tools/call","params":{"name":"s_odd","arguments":${args}}}`);
  assert.ok(plain.text.includes(expect), plain.text);
  const created = await c.post(`{"jsonrpc":"2.0","id":901,"method":"tools/call","params":{"task":{},"name":"s_odd","arguments":${args}}}`);
  const { taskId } = created.messages[0].result.task;
  const result = await c.request('tasks/result', { taskId });
  assert.ok(result.http.text.includes(expect), result.http.text);
  assert.ok(result.http.text.includes('"dev.test/n":1.50'));
  assert.equal((await status(taskId)).status, 'completed');
});

test('T-52 its JSON-RPC error is the outcome as it came; its isError result is a failed task', async () => {
  const answer = await c.request('tools/call', { name: 's_error', arguments: {} });
  assert.ok(answer.http.text.includes('{"code":-32050,"message":"not today","data":{"n":1.50}}'), answer.http.text);
  const taskId = await task('s_error');
  assert.equal((await ended(taskId)).statusMessage, 'not today');
  const bad = await call('s_bad');
  assert.equal(bad.isError, true);
  assert.equal((await ended(await task('s_bad'))).status, 'failed');
});

test('B25 its progress and log lines are relayed', async () => {
  const seen = [];
  const r = await c.post(JSON.stringify({ jsonrpc: '2.0', id: 950, method: 'tools/call', params: { name: 's_talk', arguments: {}, _meta: { progressToken: 'tok', 'dev.test/x': 1 } } }), { onMessage: (m) => seen.push(m) });
  assert.equal(text(r.messages.find((m) => m.id === 950).result), 'talked');
  const progress = seen.filter((m) => m.method === 'notifications/progress');
  assert.deepEqual(progress.map((m) => [m.params.progressToken, m.params.progress]), [['tok', 1], ['tok', 2]]);
  assert.equal(progress[0].params.message, 'half');
  const line = seen.find((m) => m.method === 'notifications/message');
  assert.deepEqual([line.params.level, line.params.logger, line.params.data], ['warning', 'x', { a: 1 }]);
});

test('the server is told the task, the attempt and the trace, and never the client\'s token', async () => {
  const taskId = await task('s_meta', {}, {});
  const meta = JSON.parse(text(await c.result('tasks/result', { taskId })));
  assert.equal(meta['dev.errand/task'], taskId);
  assert.equal(meta['dev.errand/attempt'], 1);
  assert.equal(typeof meta.progressToken, 'number');
  const plain = JSON.parse(text(await call('s_meta', {}, { _meta: { progressToken: 'mine', 'dev.test/x': { a: [1] } } })));
  assert.deepEqual(plain['dev.test/x'], { a: [1] });
  assert.notEqual(plain.progressToken, 'mine');
});

// Answers the questions on the stream of a plain call.
async function asking(name, args, answers) {
  const seen = [];
  const onMessage = (m) => {
    if (!m.method) return;
    seen.push(m);
    const given = m.id === undefined ? undefined : answers[m.method];
    if (given) void c.post(JSON.stringify({ jsonrpc: '2.0', id: m.id, result: typeof given === 'function' ? given(m) : given }));
  };
  return { result: await c.result('tools/call', { name, arguments: args }, { onMessage }), seen };
}

test('B25 elicitation, sampling and roots are asked of the client, and answered', async () => {
  const elicited = await asking('s_ask', {}, { 'elicitation/create': { action: 'accept', content: { n: 4 } } });
  assert.deepEqual(JSON.parse(text(elicited.result)), { action: 'accept', content: { n: 4 } });
  const answer = { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' };
  const sampled = await asking('s_sample', {}, { 'sampling/createMessage': answer });
  assert.deepEqual(JSON.parse(text(sampled.result)), answer);
  const roots = await asking('s_roots', {}, { 'roots/list': { roots: [{ uri: 'file:///x' }] } });
  assert.deepEqual(JSON.parse(text(roots.result)), { roots: [{ uri: 'file:///x' }] });
});

test('a question that the server takes back is taken back from the client', async () => {
  const { result, seen } = await asking('s_change', {}, {});
  assert.equal(text(result), 'took it back');
  const question = seen.find((m) => m.method === 'elicitation/create');
  assert.ok(seen.some((m) => m.method === 'notifications/cancelled' && m.params.requestId === question.id));
});

test('questions of calls side by side reach the client of each', async () => {
  const ask = (n) => asking('s_ask', { text: `q${n}` }, { 'elicitation/create': (m) => ({ action: 'accept', content: { n: Number(m.params.message.slice(1)) } }) });
  const others = [...Array(5)].map((_, i) => call('s_echo', { text: `e${i}` }));
  const all = await Promise.all([1, 2, 3].map(ask));
  assert.deepEqual(all.map((r) => JSON.parse(text(r.result)).content.n), [1, 2, 3]);
  assert.deepEqual((await Promise.all(others)).map(text), ['e0', 'e1', 'e2', 'e3', 'e4']);
});

test('a question waits until it is clear whose it is; its tool is alone from then on', async () => {
  const wait = call('mix_wait', { ms: 1000 }).then(() => performance.now());
  await until('the other call is under way', () => said('"ms":1000').length > 0);
  let at;
  const answer = () => {
    at = performance.now();
    return { action: 'accept', content: { n: 1 } };
  };
  await asking('mix_ask', {}, { 'elicitation/create': answer });
  assert.ok(at >= (await wait) - 20, 'not while two calls are under way');
  const second = call('mix_wait', { ms: 3000 }).then(() => performance.now());
  await until('the other call is under way', () => said('"ms":3000').length > 0);
  await asking('mix_ask', {}, { 'elicitation/create': answer });
  assert.ok(at < (await second));
});

test('a question of which it never gets clear is refused, and the next time is answered', async () => {
  for (const { result, seen } of await collision) {
    assert.match(JSON.parse(text(result)).message, /several calls are under way, and nothing says which of them asks this/);
    assert.equal(seen.length, 0);
  }
  assert.match(worker.log, /event=SERVER_UNCLEAR/);
  const again = await Promise.all([3, 4].map((n) => asking('late_ask', {}, { 'elicitation/create': { action: 'accept', content: { n } } })));
  assert.deepEqual(again.map((r) => JSON.parse(text(r.result)).content.n), [3, 4]);
});

test('100 calls in parallel share one child, and each gets its own answer', async () => {
  const all = await Promise.all([...Array(100)].map((_, i) => call('s_echo', { text: `n${i}` })));
  assert.deepEqual(all.map(text), [...Array(100)].map((_, i) => `n${i}`));
  const pids = await Promise.all([...Array(10)].map(() => call('s_pid')));
  assert.equal(new Set(pids.map(text)).size, 1);
});

test('a secret from the environment is in no key of Redis and in no log', async () => {
  const r = await c.request('tools/call', { name: 'own_spill', arguments: {} }); // a child that has it, and says so as it dies
  assert.match(r.error.message, /cannot log in as x\*\*\*y$/);
  assert.ok(!worker.log.includes('seven'));
  for (const key of await w.keys()) {
    const dump = await w.db.call('DUMP', key);
    assert.ok(!String(dump).includes('seven'), key);
  }
});

test('with "isolate" each call has a child of its own, which ends with it', async () => {
  const pids = (await Promise.all([call('own_pid'), call('own_pid')])).map((r) => Number(text(r)));
  assert.notEqual(pids[0], pids[1]);
  await until('both have ended', () => pids.every((p) => !alive(p)));
  const env = JSON.parse(text(await call('own_env')));
  assert.equal(env.SECRET, 'xseveny');
  assert.match(env.ERRAND_TASK_ID, /^[\w-]{24}$/);
  assert.equal(env.ERRAND_ATTEMPT, '1');
  assert.equal(env.HIDDEN, undefined);
});

test('B25 a crash fails the task with a clear message, and the server is started again', async () => {
  const pid = Number(text(await call('s_pid')));
  const taskId = await task('s_crash');
  const end = await ended(taskId);
  assert.equal(end.status, 'failed');
  assert.match(end.statusMessage, /the MCP server "s" went away during the call: exit status 3; it said last: something broke badly/);
  const again = Number(text(await call('s_pid')));
  assert.notEqual(again, pid);
  assert.ok((await allTools()).some((t) => t.name === 's_pid'), 'its tools stay listed meanwhile');
});

test('only what is idempotent is called again after a crash', async () => {
  assert.equal(text(await call('s_once')), 'second');
});

test('B25 a child killed by its number fails its calls, and no others', async () => {
  const waiting = [...Array(5)].map(() => c.request('tools/call', { name: 's_wait', arguments: { ms: 20000 } }));
  const other = call('few_echo', { text: 'fine' });
  await until('they are under way', () => said('"name":"wait"').length >= 5);
  process.kill(Number(text(await call('s_pid'))), 'SIGKILL');
  for (const r of await Promise.all(waiting)) {
    assert.match(r.error.message, /went away during the call: killed by signal 9/);
  }
  assert.equal(text(await other), 'fine');
  assert.ok(Number(text(await call('s_pid'))));
});

test('B25 a cancellation is forwarded; a server that stops keeps its child', async () => {
  const pid = text(await call('s_pid'));
  const taskId = await task('s_polite');
  await until('it is under way', () => said(taskId).length > 0);
  const before = said('notifications/cancelled').length;
  assert.equal((await c.result('tasks/cancel', { taskId })).status, 'cancelled');
  await until('the server was told', () => said('notifications/cancelled').length > before);
  assert.equal((await status(taskId)).status, 'cancelled');
  assert.equal(text(await call('s_pid')), pid);
});

test('B25 a cancellation that is not heeded is enforced: the child is gone after the grace', async () => {
  const pid = Number(text(await call('s_pid')));
  const taskId = await task('s_deaf');
  await until('it is under way', () => said(taskId).length > 0);
  await c.result('tasks/cancel', { taskId });
  await until('the child is gone', () => !alive(pid), 5000);
  assert.notEqual(Number(text(await call('s_pid'))), pid);
});

test('a call beside one that does not stop ends as usual; then the child goes', async () => {
  const pid = Number(text(await call('s_pid')));
  const taskId = await task('s_deaf');
  await until('it is under way', () => said(taskId).length > 0);
  const other = call('s_wait', { ms: 2000 });
  await until('so is the other', () => said('"ms":2000').length > 0);
  await c.result('tasks/cancel', { taskId });
  await until('new calls have another child', async () => Number(text(await call('s_pid'))) !== pid);
  assert.equal(Number(text(await other)), pid);
  await until('the old child is gone', () => !alive(pid));
});

test('B21 a line of 8 MiB is a result; what is too long fails cleanly, and the server goes on', async () => {
  const pid = text(await call('s_pid'));
  const n = 8 << 20;
  assert.equal(text(await call('s_big', { n })).length, n);
  const long = await call('s_big', { n: 25 << 20 });
  assert.ok(long.isError);
  assert.match(text(long), /larger than 24 MiB/);
  const large = await call('s_big', { n: 17 << 20 });
  assert.match(text(large), /larger than 16 MiB/);
  assert.equal(text(await call('s_pid')), pid);
});

test('lines that are no messages are logged and do no harm', async () => {
  assert.equal(text(await call('s_junk')), 'still here');
  await until('it is logged', () => /says what this worker does not take/.test(worker.log));
});

test('B25 a tool that comes later is listed at once', async () => {
  assert.ok(!(await allTools()).some((t) => t.name === 's_extra'));
  await call('s_grow');
  await listed('s_extra');
});

test('a tool that the server runs as a task only is run as one', async () => {
  assert.equal(text(await call('s_tasked')), 'result of T1');
  assert.ok(said('"task":{}').length > 0);
});

test('its resources, prompts and completions are served as they are, with the prefix for prompts', async () => {
  const resources = await c.request('resources/list');
  assert.ok(resources.http.text.includes('{"uri":"test:///a","name":"a","size":1e1,"_meta":{"n":1.50}}'), resources.http.text);
  assert.ok((await c.result('resources/templates/list')).resourceTemplates.some((x) => x.uriTemplate === 'test:///{x}'));
  const read = await c.request('resources/read', { uri: 'test:///b' });
  assert.ok(read.http.text.includes('{"contents":[{"uri":"test:///b","text":"read 1.50"}],"_meta":{"n":1.50}}'), read.http.text);
  const prompts = (await c.result('prompts/list')).prompts.map((p) => p.name);
  assert.ok(prompts.includes('s_p') && prompts.includes('own_p'), String(prompts));
  const prompt = await c.result('prompts/get', { name: 's_p', arguments: { x: 'y' } });
  assert.equal(prompt.messages[0].content.text, 'p y');
  const completion = await c.result('completion/complete', { ref: { type: 'ref/prompt', name: 's_p' }, argument: { name: 'x', value: 'v' } });
  assert.deepEqual(completion.completion.values, ['v!']);
});

test('a resource that is watched is watched at the server, and its changes are told', async () => {
  const stream = await c.openStream();
  await c.result('resources/subscribe', { uri: 'test:///a' });
  await until('the server is told', () => said('resources/subscribe').length > 0);
  await call('s_touch');
  const told = await until('the client is told', () => stream.messages.find((m) => m.method === 'notifications/resources/updated'));
  assert.equal(told.params.uri, 'test:///a');
  await c.result('resources/unsubscribe', { uri: 'test:///a' });
});

test('SIGHUP: a server that is declared no more ends, one that has changed is replaced without a gap, the others go on', async () => {
  const pid = text(await call('s_pid'));
  const file = worker.child.spawnargs[worker.child.spawnargs.indexOf('--tools') + 1];
  const declared = JSON.parse(fs.readFileSync(file, 'utf8'));
  delete declared.mcpServers.few;
  fs.writeFileSync(file, JSON.stringify(declared));
  worker.signal('SIGHUP');
  await listed('few_echo', false);
  assert.equal(text(await call('s_pid')), pid);
  const before = text(await call('mix_wait', { ms: 0 }));
  declared.mcpServers.mix.env.MORE = '1';
  fs.writeFileSync(file, JSON.stringify(declared));
  worker.signal('SIGHUP');
  await until('it is another process, and was never away', async () => text(await call('mix_wait', { ms: 0 })) !== before);
});

test('B22 at the end of the worker nothing of its servers is left, and it ends in good order', async () => {
  const pids = below(worker.pid).map((p) => p.pid);
  assert.ok(pids.length >= 2);
  worker.signal('SIGTERM');
  assert.equal(await worker.ended, 0);
  await until('all have ended', () => pids.every((p) => !alive(p)), 5000);
});

test('a worker that is killed takes its servers along; a call that may not be made twice fails then', async () => {
  const doomed = await w.startWorker({ tools: { mcpServers: { z: server({ prefix: 'z_', allow: ['wait', 'pid'] }) } }, args: ['--lease', '1s'] });
  await listed('z_wait');
  const pid = Number(text(await call('z_pid')));
  const taskId = await task('z_wait', { ms: 60000 });
  await until('it is under way', () => said(taskId).length > 0);
  await doomed.kill();
  await until('the child is gone', () => !alive(pid), 5000);
  const next = await w.startWorker({ tools: { mcpServers: { z: server({ prefix: 'z_', allow: ['wait', 'pid'] }) } } });
  const end = await ended(taskId);
  assert.equal(end.status, 'failed');
  assert.match(end.statusMessage, /the worker was lost/);
  assert.equal(said(taskId).length, 1, 'it was called once');
  await next.kill();
});

test('errand tools check starts the servers of a file for a tool of theirs, and leaves none behind', async () => {
  const file = path.join(w.dir, 'check.json');
  fs.writeFileSync(file, JSON.stringify({ mcpServers: { s: server({ prefix: 's_', startTimeout: '4s' }), dead: { command: 'false', startTimeout: '1s' } } }));
  const listed = JSON.parse((await w.cli('tools', 'check', file, '--json')).out);
  assert.deepEqual([listed.tools, listed.servers], [[], ['s', 'dead']]);
  const r = await w.cli('tools', 'check', file, '--json', '--run', 's_odd', '{"n": 1.50}');
  assert.equal(r.status, 0, r.err);
  assert.ok(r.out.includes('"got":{"n": 1.50}'), r.out);
  const none = await w.cli('tools', 'check', file, '--run', 's_none');
  assert.equal(none.status, 1);
  assert.match(none.err, /no MCP server of the file offers a tool "s_none"/);
  const pids = new Set(lines(log).map((l) => Number(l.split(' ')[0])));
  await until('all have ended', () => [...pids].every((p) => !alive(p)), 5000);
});
