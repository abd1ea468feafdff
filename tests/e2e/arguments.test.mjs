// Arguments are checked before anything is queued, results before they are told: rows W-04, W-06,
// W-16, W-17, T-19, S-11.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fs from 'node:fs';
import path from 'node:path';
import { World, lines } from '../lib/errand.mjs';
import { Modern } from '../lib/modern.mjs';

const w = new World();
const ran = path.join(w.dir, 'ran');
let a;
let l;

const schema = {
  type: 'object',
  properties: {
    file: { type: 'string', pattern: '^[a-z./]+$', minLength: 2 },
    count: { type: 'integer', minimum: 1, maximum: 10 },
    mode: { enum: ['fast', 'good'] },
  },
  required: ['file'],
  additionalProperties: false,
};
const run = { command: ['sh', '-c', 'echo ran >>"$1"; echo done', 'sh', ran] };
const base = { description: 'Leaves a line.', inputSchema: schema, run, pollInterval: '100ms' };
const promise = {
  description: 'Promises a number.',
  inputSchema: { type: 'object' },
  outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  attempts: 1,
};
const output = (kind, text) => ({ command: ['printf', '%s', text], output: kind });
const tools = {
  tools: [
    { ...base, name: 'work' },
    { ...base, name: 'must', taskSupport: 'required' },
    { ...base, name: 'open', inputSchema: { type: 'object' } },
    { ...base, name: 'old', inputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', dependencies: { a: ['b'] } } },
    { ...promise, name: 'keeps', run: output('json', '{"n":4}') },
    { ...promise, name: 'breaks', run: output('json', '{"n":"four"}') },
    { ...promise, name: 'forgets', run: output('result', '{"content":[]}') },
    { ...promise, name: 'fails', run: output('result', '{"content":[],"isError":true}') },
  ],
};

before(async () => {
  await w.startRedis();
  a = await w.startBroker({ args: ['--auth', 'key'] });
  await w.startWorker({ tools });
  l = await w.connect(a, { key: await w.newKey('first'), tool: 'work' });
});
after(() => w.stop());

const modern = async (options = {}) => {
  const c = new Modern(a.url, { tasks: true, key: await w.newKey(`modern${Math.random()}`), ...options });
  w.clients.push(c);
  return c;
};
// Everything about jobs: what a partition holds besides sessions and its workers' lists.
const traces = async () => (await w.keys('errand:{[0-9]*}:*')).filter((k) => !/:(se|so|il|pl|lc):/.test(k)).sort();

const bad = [
  [{}, '"/file" is missing'],
  [undefined, '"/file" is missing'],
  [{ file: 5 }, '"/file" must be a string, but is the number 5'],
  [{ file: 'UP' }, '"/file" must match the pattern "^[a-z./]+$", but is the string "UP"'],
  [{ file: 'ab', count: 11 }, '"/count" must be at most 10, but is the number 11'],
  [{ file: 'ab', count: 1.5 }, '"/count" must be an integer, but is the number 1.5'],
  [{ file: 'ab', mode: 'slow' }, '"/mode" must be one of "fast" or "good", but is the string "slow"'],
  [{ file: 'ab', more: 1 }, '"/more" is not allowed; there is "file", "count" and "mode"'],
];

test('W-16 W-17: bad arguments of a plain call are an error result that says which field, and nothing is queued', async () => {
  const c = await modern();
  for (const [args, says] of bad) {
    const params = { name: 'work', ...(args && { arguments: args }) };
    const text = `Invalid arguments for tool work: ${says}`;
    const r = await l.result('tools/call', params);
    assert.deepEqual(r, { content: [{ type: 'text', text }], isError: true });
    const m = await c.result('tools/call', params);
    assert.equal(m.resultType, 'complete');
    assert.equal(m.isError, true);
    assert.deepEqual(m.content, [{ type: 'text', text }]);
  }
  assert.deepEqual(await traces(), []);
  assert.equal(fs.existsSync(ran), false);
});

test('W-16: in the stateless dialect a call that would become a task is refused the same way', async () => {
  const c = await modern();
  const r = await c.result('tools/call', { name: 'must', arguments: { file: 1 } });
  assert.equal(r.resultType, 'complete');
  assert.equal(r.isError, true);
  assert.match(r.content[0].text, /"\/file" must be a string/);
});

test('T-19: bad arguments of a task are a task that has failed, with the error result', async () => {
  for (const name of ['work', 'must']) {
    const { task } = await l.result('tools/call', { name, arguments: { file: 1 }, task: {} });
    assert.equal(task.status, 'working');
    const now = await l.result('tasks/get', { taskId: task.taskId });
    assert.equal(now.status, 'failed');
    assert.match(now.statusMessage, /^Invalid arguments for tool (work|must): "\/file" must be a string, but is the number 1$/);
    const r = await l.result('tasks/result', { taskId: task.taskId });
    assert.equal(r.isError, true);
    assert.equal(r.content[0].text, now.statusMessage);
  }
  assert.notDeepEqual(await traces(), []);
  assert.equal(fs.existsSync(ran), false);
});

test('W-04: arguments that fit are run, in either dialect and either way', async () => {
  const args = { file: 'a/b.c', count: 10.0, mode: 'good' };
  const c = await modern();
  assert.equal((await l.result('tools/call', { name: 'work', arguments: args })).content[0].text, 'done\n');
  assert.equal((await c.result('tools/call', { name: 'work', arguments: args })).content[0].text, 'done\n');
  const { task } = await l.result('tools/call', { name: 'must', arguments: args, task: {} });
  assert.equal((await l.result('tasks/result', { taskId: task.taskId })).content[0].text, 'done\n');
  assert.equal(lines(ran).length, 3);
  assert.equal((await l.result('tools/call', { name: 'open' })).isError, false);
});

test('W-04: a draft-07 schema counts by its own rules', async () => {
  const r = await l.result('tools/call', { name: 'old', arguments: { a: 1 } });
  assert.equal(r.isError, true);
  assert.match(r.content[0].text, /"\/b" is missing, which is required because of "a"/);
});

test('W-04 S-11: a worker refuses a schema that it cannot check, by tool and keyword', async () => {
  const refuse = async (more, says) => {
    const worker = await w.startWorker({ tools: { tools: [{ ...base, name: 'odd', ...more }] }, ready: false });
    assert.equal(await worker.ended, 2);
    assert.match(worker.log, says);
    assert.equal(worker.log.trim().split('\n').length, 1);
  };
  const input = (s) => ({ inputSchema: { type: 'object', ...s } });
  await refuse(input({ properties: { a: { $dynamicRef: '#x' } } }), /tool "odd": "inputSchema": "\/properties\/a": "\$dynamicRef" is a keyword that is not supported/);
  await refuse(input({ $ref: 'https://example.com/schema.json' }), /"inputSchema": "\$ref" points at nothing in this document, and nothing is fetched/);
  await refuse(input({ $schema: 'http://json-schema.org/draft-03/schema#' }), /"inputSchema": "\$schema" names a dialect that is not supported/);
  await refuse({ outputSchema: { type: 'object', properties: { a: { pattern: '(' } } }, run: { ...run, output: 'json' } }, /"outputSchema": "\/properties\/a": "pattern" is no regular expression/);
});

test('W-06: a result that its outputSchema does not allow is an error result', async () => {
  const call = (name) => l.result('tools/call', { name });
  assert.deepEqual((await call('keeps')).structuredContent, { n: 4 });
  const broken = await call('breaks');
  assert.equal(broken.isError, true);
  assert.equal(broken.structuredContent, undefined);
  assert.equal(broken.content[0].text, 'the result is not what the tool\'s outputSchema promises: "/n" must be a number, but is the string "four"');
  const forgot = await call('forgets');
  assert.equal(forgot.isError, true);
  assert.match(forgot.content[0].text, /it has no structuredContent/);
  assert.deepEqual(await call('fails'), { content: [], isError: true });
});
