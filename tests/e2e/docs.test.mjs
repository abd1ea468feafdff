// What the pages show works as it stands there: their tools.json files, the programs that talk
// with the worker, and the C program, built against what is installed.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { World, bin, root } from '../lib/errand.mjs';

const run = promisify(execFile);
const w = new World();
let a;

// The fenced blocks of a page, by their language.
function blocks(page, language) {
  const text = fs.readFileSync(path.join(root, page), 'utf8');
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].filter((m) => m[1] === language).map((m) => m[2]);
}
const put = (name, text, mode = 0o644) => {
  const file = path.join(w.dir, name);
  fs.writeFileSync(file, text, { mode });
  return file;
};
const text = (r) => r.content[0].text.trim();
const programs = { sh: 'greet.sh', python: 'greet.py', js: 'greet.js' };
const shown = blocks('docs/tools.md', 'json').map((b) => JSON.parse(b)).find((f) => f.tools[0].name === 'greet').tools[0];

before(async () => {
  await w.startRedis();
  for (const [language, name] of Object.entries(programs)) {
    const found = blocks('docs/tools.md', language).filter((b) => b.startsWith('#!'));
    assert.equal(found.length, 1, language);
    put(name, found[0], 0o755);
  }
  const tools = put('greet.json', JSON.stringify({
    tools: Object.values(programs).map((name) => ({ ...shown, name, run: { command: [`./${name}`, '{place}'] } })),
  }));
  a = await w.startBroker();
  await w.startWorker({ tools, env: { PATH: `${bin}:${process.env.PATH}` } });
});
after(() => w.stop());

for (const name of Object.values(programs)) {
  test(`docs/tools.md: the example ${name} tells, asks and answers, as it is shown`, async () => {
    const c = await w.connect(a, { capabilities: { elicitation: {} }, tool: name });
    const got = [];
    const call = (answer) => c.callTool(name, { place: 'the shed' }, {
      meta: { progressToken: 'p' },
      onMessage: (m) => {
        got.push(m);
        if (m.method === 'elicitation/create') c.post(JSON.stringify({ jsonrpc: '2.0', id: m.id, result: answer }));
      },
    });
    const r = await call({ action: 'accept', content: { name: 'Ann' } });
    assert.notEqual(r.isError, true);
    assert.deepEqual(JSON.parse(text(r)), { name: 'Ann' });
    const of = (method) => got.filter((m) => m.method === method).map((m) => m.params);
    assert.equal(of('elicitation/create')[0].message, 'Who is at the shed?');
    assert.equal(of('notifications/progress').at(-1).progress, 2);
    assert.equal(of('notifications/message')[0].data, 'somebody is at the shed');
    assert.equal((await call({ action: 'decline' })).isError, true);
  });
}

test('every tools.json that a page shows is one, but for programs that are not here', async () => {
  let count = 0;
  for (const page of ['README.md', 'docs/tools.md']) {
    for (const block of blocks(page, 'json').filter((b) => 'tools' in JSON.parse(b))) {
      const r = await w.cli('tools', 'check', put(`shown${count}.json`, block), '--json');
      assert.equal(r.status, 0, `${page}: ${r.out}${r.err}`);
      count += 1;
    }
  }
  assert.ok(count >= 3, `${count} files`);
});

test('README.md: the tool that it shows is tried with the words that it shows', async () => {
  const page = fs.readFileSync(path.join(root, 'README.md'), 'utf8');
  const file = put('tools.json', blocks('README.md', 'json').find((b) => 'tools' in JSON.parse(b)));
  const [, name, words] = page.match(/^errand tools check tools\.json --run (\w+) '(.*)'$/m);
  const text = put('text', 'one two\nthree\n');
  const r = await w.cli('tools', 'check', file, '--run', name, words.replace(JSON.parse(words).file, text));
  assert.equal(r.status, 0, r.err);
  assert.match(r.out, /^3 /);
});

test('what is installed is all that a C program with handlers needs, and hides the rest', async (t) => {
  const build = path.dirname(bin);
  const prefix = path.join(w.dir, 'prefix');
  if (!fs.existsSync(path.join(build, 'worker/install/liberrandworker.a'))) {
    t.skip('not all of the build is there');
    return;
  }
  const cache = fs.readFileSync(path.join(build, 'CMakeCache.txt'), 'utf8');
  const set = (name) => cache.match(new RegExp(`^${name}:\\w+=(.*)$`, 'm'))?.[1] ?? '';
  await run('cmake', ['--install', build, '--prefix', prefix]);
  for (const name of ['errand', 'errand-broker', 'errand-worker']) {
    assert.match((await run(path.join(prefix, 'bin', name), ['--version'])).stdout, /\d+\.\d+/);
  }
  const archive = path.join(prefix, set('CMAKE_INSTALL_LIBDIR'), 'liberrandworker.a');
  const { stdout: symbols } = await run('nm', ['--defined-only', '--extern-only', archive], { maxBuffer: 1 << 24 });
  const names = symbols.split('\n').map((l) => l.split(' ')[2]).filter(Boolean);
  assert.ok(names.includes('errand_worker_main'));
  // A sanitizer adds names of its own.
  assert.deepEqual(names.filter((n) => !n.startsWith('errand_') && !n.startsWith('___asan_')), []);
  const [source] = blocks('docs/tools.md', 'c');
  const file = put('echo.c', source);
  const env = { ...process.env, PKG_CONFIG_PATH: path.join(path.dirname(archive), 'pkgconfig') };
  const { stdout: words } = await run('pkg-config', ['--cflags', '--libs', 'errandworker'], { env });
  const program = path.join(w.dir, 'echo');
  await run(set('CMAKE_C_COMPILER'), ['-Wall', '-Wextra', ...set('CMAKE_C_FLAGS').split(' ').filter(Boolean), '-o', program, file, ...words.trim().split(/\s+/)]);
  await w.startWorker({ program, names: ['echo'] });
  const c = await w.connect(a, { tool: 'echo' });
  assert.equal(text(await c.callTool('echo', { text: 'h\u00e9' })), 'h\u00e9');
});

test('docs/security.md: the user of Redis that it shows may do all that errand does', async (t) => {
  const page = fs.readFileSync(path.join(root, 'docs/security.md'), 'utf8');
  const rules = page.match(/`(~errand:\* [^`]*)`/)[1].split(' ');
  const own = new World();
  t.after(() => own.stop());
  await own.startRedis();
  await own.db.call('ACL', 'SETUSER', 'errand', 'on', '>secret', ...rules);
  own.redisUrl = own.redisUrl.replace('unix://', 'unix://errand:secret@');
  const key = await own.newKey('ci');
  const broker = await own.startBroker({ args: ['--auth', 'key'] });
  const ask = 'errand progress 1; errand log info hello; errand ask --message m --field n:integer';
  const sh = (name, script, more = {}) => ({ name, inputSchema: { type: 'object' }, run: { command: ['sh', '-c', script] }, ...more });
  const tools = { tools: [sh('ask', ask), sh('fails', 'exit 1', { retryOn: ['exit'], attempts: 2, backoff: '10ms' }), sh('slow', 'sleep 60')] };
  const worker = await own.startWorker({ tools, env: { PATH: `${bin}:${process.env.PATH}` }, args: ['--lease', '1s'] });
  const c = await own.connect(broker, { key, capabilities: { elicitation: {} }, tool: 'ask' });
  const stream = await c.openStream();
  const answer = (m) => m.method === 'elicitation/create' && c.post(JSON.stringify({ jsonrpc: '2.0', id: m.id, result: { action: 'accept', content: { n: 1 } } }));
  assert.equal(text(await c.callTool('ask', {}, { onMessage: answer })), '{"n":1}');
  const failing = await c.createTask('fails');
  assert.ok((await c.request('tasks/result', { taskId: failing.taskId })).error);
  const slow = await c.createTask('slow', {}, { ttl: 60000 });
  await c.result('tasks/list');
  await c.result('tasks/cancel', { taskId: slow.taskId });
  const brief = await c.createTask('slow', {}, { ttl: 1500 });
  assert.equal((await c.request('tasks/result', { taskId: brief.taskId })).error.code, -32602);
  stream.close();
  worker.signal('SIGHUP');
  for (const words of [['queue'], ['dead'], ['dead', 'requeue', 'all'], ['doctor'], ['key', 'list'], ['key', 'new', '--name', 'ci', '--rotate'], ['key', 'revoke', '--name', 'ci']]) {
    const r = await own.cli(...words);
    assert.equal(r.status, 0, `${words}: ${r.out}${r.err}`);
  }
  assert.equal(await worker.kill('SIGTERM'), 0);
  assert.equal(await broker.kill('SIGTERM'), 0);
  // The doctor also asks what another user may; that is for administrators.
  const denied = (await own.db.call('ACL', 'LOG')).filter((entry) => !entry.includes('acl|dryrun'));
  assert.deepEqual(denied, []);
  for (const p of [broker, worker]) assert.ok(!p.log.includes('event=STORE_ERROR'), p.log);
});
