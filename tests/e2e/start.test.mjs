// How the programs start, or say why they do not: bad configuration, and a Redis that is not there.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { World, bin, freePort, sleep, until } from '../lib/errand.mjs';

const w = new World();
let files = 0;

before(() => w.startRedis());
after(() => w.stop());

function written(content) {
  const file = `${w.dir}/file-${files++}.json`;
  fs.writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

// Runs a program that should end by itself; resolves to { status, err }.
function run(program, args, env = {}) {
  return new Promise((resolve) => {
    const child = spawn(path.join(bin, program), args, { env: { ...process.env, ERRAND_REDIS: w.redisUrl, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
    let err = '';
    child.stderr.on('data', (d) => { err += d; });
    const late = setTimeout(() => child.kill('SIGKILL'), 20000);
    child.once('close', (code, signal) => {
      clearTimeout(late);
      resolve({ status: code ?? signal, err });
    });
  });
}

// Status 2 and one line that begins with the program's name and says all that parts ask for.
async function refused(program, args, parts, env) {
  const r = await run(program, args, env);
  const what = `${program} ${args.join(' ')}: ${r.status} ${r.err}`;
  assert.equal(r.status, 2, what);
  assert.match(r.err, new RegExp(`^${program}: [^\\n]+\\n$`), what);
  for (const part of parts) assert.ok(r.err.includes(part), `${what} (wanted ${part})`);
}

const good = { name: 'good', description: 'A tool.', inputSchema: { type: 'object' }, run: { command: ['true'] } };

test('a broker refuses what it cannot use: one line with the place, the mistake and what would be right, status 2', async () => {
  const broker = (args, parts, env) => refused('errand-broker', ['--listen', '127.0.0.1:0', ...args], parts, env);
  await broker(['--nope'], ['--nope', 'no such option', '--help']);
  await broker(['what'], ['what']);
  await broker(['--max-ttl'], ['--max-ttl']);
  await broker(['--max-ttl', 'soon'], ['--max-ttl', 'soon', '24h']);
  await broker(['--max-ttl', '5'], ['--max-ttl', 'unit']);
  await broker(['--max-ttl', '10ms'], ['--max-ttl', '10ms', '1s']);
  await broker(['--rate', 'fast'], ['--rate', 'fast', '5/s']);
  await broker(['--max-body', '1q'], ['--max-body', '1q']);
  await broker(['--page-size', '0'], ['--page-size']);
  await broker(['--auth', 'maybe'], ['--auth', 'maybe', 'key']);
  await broker(['--redis', 'http://x'], ['--redis', 'redis://']);
  await broker(['--redis', 'redis://x:notaport'], ['--redis']);
  await broker(['--prefix', 'a b'], ['--prefix']);
  await broker([], ['ERRAND_GRACE', 'later'], { ERRAND_GRACE: 'later' });
  await broker(['--config', '/no/such/file'], ['/no/such/file', 'No such file']);
  let file = written({ 'max-ttl': '1h', keepalife: '3s' });
  await broker(['--config', file], [file, 'keepalife', 'no such option']);
  file = written({ keepalive: 'x' });
  await broker(['--config', file], [file, 'keepalive', '"x"']);
  file = written({ keepalive: { a: 1 } });
  await broker(['--config', file], [file, 'keepalive']);
  file = written('{\n"keepalive": "3s"\n"grace": "1s"}');
  await broker(['--config', file], [file, 'line 3', 'JSON']);
});

test('H-04: a broker does not open itself to the network by accident, nor take an address that is taken', async () => {
  await refused('errand-broker', ['--listen', '0.0.0.0:0'], ['--listen', '0.0.0.0:0', '--auth key']);
  await refused('errand-broker', ['--listen', 'nonsense'], ['--listen', 'nonsense']);
  const b = await w.startBroker();
  await refused('errand-broker', ['--listen', `127.0.0.1:${b.port}`], [`${b.port}`, 'in use']);
  await b.kill('SIGTERM');
});

test('a worker refuses bad options and bad tools: file, tool, member, what would be right, status 2', async () => {
  const worker = (args, parts) => refused('errand-worker', args, parts);
  const bad = async (content, parts) => {
    const file = written(content);
    await worker(['--tools', file], [file, ...parts]);
  };
  await worker([], ['--tools', 'missing']);
  await worker(['--tools', '/no/such/tools.json'], ['/no/such/tools.json', 'No such file']);
  await worker(['--tools', written({ tools: [good] }), '--slots', 'many'], ['--slots', 'many']);
  await worker(['--tools', written({ tools: [good] }), '--lease', '10'], ['--lease', 'unit']);
  await worker(['--tools', written({ tools: [good] }), '--lease', '10ms'], ['--lease', '1s']);
  await bad('{', ['JSON']);
  await bad([], ['tools']);
  await bad({ tools: {} }, ['tools']);
  await bad({ tools: [good], toolz: [] }, ['toolz']);
  await bad({ tools: [good, good] }, ['"good"', 'another tool of that name']);
  const second = written({ tools: [good] });
  await worker(['--tools', written({ tools: [good] }), '--tools', second], [second, '"good"', 'another tool of that name']);
  await bad({ tools: [{ ...good, name: 'a b' }] }, ['tool 1', '"name"', 'a b']);
  await bad({ tools: [{ ...good, name: undefined }] }, ['tool 1', '"name"']);
  await bad({ tools: [{ ...good, inputSchema: [] }] }, ['"good"', '"inputSchema"', 'object']);
  await bad({ tools: [{ ...good, inputSchema: { type: 'string' } }] }, ['"good"', '"inputSchema"', 'object']);
  await bad({ tools: [{ ...good, inputSchema: undefined }] }, ['"good"', '"inputSchema"']);
  await bad({ tools: [{ ...good, timeout: '5 minutes' }] }, ['"good"', '"timeout"', '5 minutes', '5m']);
  await bad({ tools: [{ ...good, tiemout: '5m' }] }, ['"good"', '"tiemout"', 'timeout']);
  await bad({ tools: [{ ...good, attempts: 0 }] }, ['"good"', '"attempts"']);
  await bad({ tools: [{ ...good, priority: 'urgent' }] }, ['"good"', '"priority"', 'urgent', '"high"']);
  await bad({ tools: [{ ...good, taskSupport: 'yes' }] }, ['"good"', '"taskSupport"', 'optional']);
  await bad({ tools: [{ ...good, run: { command: [] } }] }, ['"good"', 'command']);
  await bad({ tools: [{ ...good, run: { command: 'true' } }] }, ['"good"', 'command']);
  await bad({ tools: [{ ...good, run: {} }] }, ['"good"', 'run']);
});

test('options that contradict the installation in Redis end both programs with status 2 and a line that says so', async () => {
  const b = await w.startBroker();
  const tools = written({ tools: [good] });
  for (const [program, args] of [['errand-broker', ['--listen', '127.0.0.1:0']], ['errand-worker', ['--tools', tools]]]) {
    const r = await run(program, [...args, '--partitions', '4']);
    assert.equal(r.status, 2, r.err);
    assert.match(r.err, /level=error .*has 1 partitions, not 4/);
  }
  await b.kill('SIGTERM');
});

test('B7: without Redis at the start, broker and worker wait for it and then work, unattended', async () => {
  const lone = new World();
  lone.socket = `${lone.dir}/redis.sock`;
  lone.redisUrl = `unix://${lone.socket}`;
  try {
    const b = await lone.startBroker({ ready: false, args: ['--rate', '0'] });
    const worker = await lone.startWorker({ ready: false, tools: { tools: [{ ...good, run: { command: ['echo', 'hello'] } }] } });
    const probe = async () => {
      try {
        return await (await fetch(`${b.origin}/readyz`)).json();
      } catch {
        return undefined;
      }
    };
    assert.equal((await until('it answers', probe)).status, 'unavailable');
    assert.equal((await fetch(`${b.origin}/healthz`)).status, 200);
    const c = await lone.connect(b, { raw: true });
    const r = await c.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } });
    assert.equal(r.http.status, 503);
    assert.equal(r.error.code, -32603);
    await sleep(1500);
    assert.equal(b.status, undefined);
    assert.equal(worker.status, undefined);
    await lone.startRedis();
    await until('it is ready', async () => (await probe())?.status === 'ready', 7000);
    const d = await lone.connect(b, { tool: 'good' });
    assert.equal((await d.callTool('good')).content[0].text, 'hello\n');
  } finally {
    await lone.stop();
  }
});

test('B7: a Redis that wants a password they do not have is waited for too', async () => {
  await w.db.call('CONFIG', 'SET', 'requirepass', 'sesame');
  const b = await w.startBroker({ ready: false });
  await until('it says why', () => /NOAUTH|[Aa]uthentication/.test(b.log));
  assert.equal((await fetch(`${b.origin}/readyz`)).status, 503);
  assert.equal(b.status, undefined);
  await w.db.call('AUTH', 'sesame');
  await w.db.call('CONFIG', 'SET', 'requirepass', '');
  await until('it is ready', async () => (await fetch(`${b.origin}/readyz`)).status === 200);
  await b.kill('SIGTERM');
});

test('a password in the URL is used, and never shown', async () => {
  await w.db.call('CONFIG', 'SET', 'requirepass', 'sesame-open');
  await w.db.call('AUTH', 'sesame-open');
  // Another may have taken the port meanwhile.
  const port = await until('Redis listens', async () => {
    const free = await freePort();
    return w.db.call('CONFIG', 'SET', 'port', free).then(() => free, () => 0);
  });
  const url = w.redisUrl;
  w.redisUrl = `redis://:sesame-open@127.0.0.1:${port}/0`;
  try {
    const b = await w.startBroker({ args: ['--log-level', 'debug'] });
    const worker = await w.startWorker({ tools: { tools: [good] }, args: ['--log-level', 'debug'] });
    assert.equal((await (await w.connect(b, { tool: 'good' })).callTool('good')).isError, false);
    for (const p of [b, worker]) {
      await p.kill('SIGTERM');
      assert.match(p.log, new RegExp(`127.0.0.1:${port}`));
      assert.ok(!p.log.includes('sesame-open'));
    }
  } finally {
    w.redisUrl = url;
    await w.db.call('CONFIG', 'SET', 'requirepass', '');
  }
});

test('a Redis that may evict keys is warned of, by broker and worker', async () => {
  const x = new World();
  try {
    await x.startRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] });
    const broker = await x.startBroker();
    const worker = await x.startWorker();
    for (const p of [broker, worker]) await until('it warns', () => /level=warn.*event=EVICTION.*policy=allkeys-lru/.test(p.log));
    // The log says it once; the metric tells it while it is so.
    const told = (n) => until(`errand_redis_may_evict ${n}`, async () => (await x.metric(broker, 'errand_redis_may_evict')) === n, 30000, 200);
    await told(1);
    await x.db.call('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    await told(0);
    await x.db.call('CONFIG', 'SET', 'maxmemory-policy', 'volatile-ttl');
    await told(1);
  } finally {
    await x.stop();
  }
});

test('the password of Redis is read from a file, by all three programs', async () => {
  await w.db.call('ACL', 'SETUSER', 'joe', 'on', '>hunter 2', '~*', '&*', '+@all');
  const redis = ['--redis', `unix://joe@${w.socket}`];
  const right = ['--redis-password-file', written('hunter 2\n')];
  const broker = await w.startBroker({ args: [...redis, ...right] });
  const worker = await w.startWorker({ args: [...redis, ...right] });
  assert.ok(!(broker.log + worker.log).includes('hunter'));
  const { status, out } = await w.cli('queue', ...redis, ...right);
  assert.equal(status, 0, out);
  await Promise.all([broker.kill('SIGTERM'), worker.kill('SIGTERM')]);
});

test('a broker can be probed: is it alive, is it ready, from nothing but its own program', async () => {
  const port = await freePort();
  const probe = (what) => run('errand-broker', ['--probe', what, '--listen', `127.0.0.1:${port}`]);
  const nobody = await probe('live');
  assert.equal(nobody.status, 1);
  assert.match(nobody.err, /^errand-broker: nothing answers at 127\.0\.0\.1 port \d+: Connection refused\n$/);

  const broker = await w.startBroker({ port, ready: false, args: ['--redis', 'redis://127.0.0.1:1'] });
  await until('it is alive', async () => (await probe('live')).status === 0);
  const waits = await probe('ready');
  assert.equal(waits.status, 1);
  assert.match(waits.err, /^errand-broker: \/readyz is answered HTTP\/1\.0 503 [^\n]*redis cannot be used/);
  await broker.kill();

  const good = await w.startBroker({ port });
  assert.deepEqual(await probe('ready'), { status: 0, err: '' });
  await good.kill('SIGTERM');
});

test('a worker can be probed where it tells its metrics', async () => {
  const at = `127.0.0.1:${await freePort()}`;
  const probe = (what) => run('errand-worker', ['--probe', what, '--metrics', at]);
  assert.equal((await probe('live')).status, 1);
  await refused('errand-worker', ['--probe', 'live'], ['--probe', '--metrics HOST:PORT']);
  const worker = await w.startWorker({ args: ['--metrics', at] });
  await until('it is ready', async () => (await probe('ready')).status === 0);
  assert.deepEqual(await probe('live'), { status: 0, err: '' });
  await worker.kill('SIGTERM');
});
