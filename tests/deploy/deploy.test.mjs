// The deployment as an operator has it: families B1, B3, B4, B6, B7, B22, B23, B26 and B28 through nginx,
// with the official clients of both dialects.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { freePort, root, sleep, until } from '../lib/errand.mjs';
import { Modern } from '../lib/modern.mjs';
import { CallToolResultSchema, CreateTaskResultSchema, call, create, handshake, insist, result, stateless, text } from './clients.mjs';
import { chaos } from './chaos.mjs';
import { Site, docker, effects, note, run } from './site.mjs';

const LEASE_MS = 3000;
const TTL_MS = 45000; // of all tasks here: when it has passed, nothing may be left
const CHAOS_MS = 25000;
const site = new Site();
const open = [];
let upMs;

const client = async (make) => {
  const c = await make(site);
  open.push(c);
  return c;
};

before(async () => {
  upMs = await site.up('--scale', 'broker=3', '--scale', 'worker=4');
  await until('the tools are there', async () => (await site.cli('tools')).includes('stubborn'), 30000, 500);
});
after(async () => {
  // Whatever a failed test has left under way does not keep the run.
  setTimeout(() => process.exit(), 10000).unref();
  for (const c of open) await c.close().catch(() => {});
  if (process.env.ERRAND_TEST_LOG) for (const s of ['broker', 'worker', 'nginx', 'redis']) console.error(await site.logs(s));
});

const startsOf = (task) => effects().filter((e) => e.what === 'start' && e.task === task);
const started = (task, n = 1, ms = 10000) => until(`start ${n} of ${task}`, () => startsOf(task).length >= n, ms, 50);
const workerOf = async (task) => {
  for (const name of await site.containers('worker')) {
    const look = `grep -lsa ERRAND_TASK_ID=${task} /proc/[0-9]*/environ`;
    if ((await docker('exec', name, 'sh', '-c', `${look} || true`)).includes('/proc/')) return name;
  }
  return undefined;
};
const jobs = async () => (await Promise.all((await site.containers('worker')).map((w) => site.jobs(w)))).flat();

// A handshake over HTTP/2; resolves to the revision that was agreed on.
async function initialize(origin, ca) {
  const connection = http2.connect(origin, { ca, lookup: (name, options, done) => done(null, options.all ? [{ address: '127.0.0.1', family: 4 }] : '127.0.0.1', 4) });
  const request = connection.request({ ':method': 'POST', ':path': '/mcp', authorization: `Bearer ${site.key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' });
  request.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'deploy', version: '1' } } }));
  let body = '';
  for await (const d of request) body += d;
  connection.close();
  return /"protocolVersion":"([^"]*)"/.exec(body)?.[1] ?? body;
}

test('docker compose up is healthy in less than a minute', () => {
  note(`healthy after ${upMs} ms`);
  assert.ok(upMs < 60000, `${upMs} ms`);
});

test('no container is root, can write its image, or has a capability it does not need', async () => {
  for (const service of ['broker', 'worker', 'nginx']) {
    for (const c of await site.inspect(await site.containers(service))) {
      assert.match(c.Config.User, /^10001/, c.Name);
      assert.equal(c.HostConfig.ReadonlyRootfs, true, c.Name);
      assert.deepEqual(c.HostConfig.CapDrop, ['ALL'], c.Name);
      assert.ok(c.HostConfig.Memory > 0 && c.HostConfig.PidsLimit > 0, c.Name);
      assert.ok(!JSON.stringify(c.Config).includes('hunter') && !/password=/i.test(JSON.stringify(c.Config.Env)));
    }
  }
});

test('the images say what they are, and need no shell to start or to be probed', async () => {
  for (const name of ['broker', 'examples', 'cli']) {
    const [{ Config: c }] = await site.inspect(`errand-${name}:${process.env.ERRAND_TAG}`);
    assert.equal(c.User, '10001:10001');
    assert.equal(c.Entrypoint.length, 1);
    const label = (l) => c.Labels[`org.opencontainers.image.${l}`];
    assert.equal(label('licenses'), 'MIT');
    assert.equal(label('revision'), process.env.ERRAND_TAG);
    assert.ok(label('title') && label('description') && label('version'));
    if (c.Healthcheck) assert.equal(c.Healthcheck.Test[0], 'CMD');
    const masked = ['sh', 'bash', 'dash'].flatMap((s) => ['-v', `/dev/null:/usr/bin/${s}:ro`]);
    const out = await docker('run', '--rm', '--network', 'none', '--read-only', ...masked, `errand-${name}:${process.env.ERRAND_TAG}`, '--version');
    assert.equal(out.trim().split(' ').pop(), label('version'));
  }
});

test('errand doctor finds nothing to change in this Redis', async () => {
  const findings = JSON.parse(await site.cli('doctor', '--json'));
  assert.deepEqual(findings.filter((f) => f.verdict === 'change'), []);
});

test('nginx passes streams on as they come, and keeps the metrics to itself', async () => {
  assert.equal((await fetch(`${site.origin}/metrics`)).status, 404);
  const c = await client(handshake);
  const began = Date.now();
  const seen = [];
  const r = c.callTool({ name: 'question', arguments: { name: 'stream' } }, CallToolResultSchema, { onprogress: () => seen.push(Date.now() - began) });
  assert.equal(text(await r), 'stream {"n":7}');
});

test('B7, B21: what nginx says by itself is a JSON-RPC error', async () => {
  const post = (body) => fetch(site.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const large = await post('x'.repeat((1 << 20) + 1));
  assert.deepEqual([large.status, large.headers.get('content-type'), (await large.json()).error.code], [413, 'application/json', -32600]);
  const brokers = await site.containers('broker');
  await docker('kill', ...brokers);
  const away = await post('{}');
  await docker('start', ...brokers);
  assert.deepEqual([away.status, away.headers.get('content-type'), (await away.json()).error.code], [503, 'application/json', -32603]);
  assert.ok(Number(away.headers.get('retry-after')) > 0);
  for (const b of brokers) await site.healthy(b);
});

test('each alert comes with what it is for, and not with less', async () => {
  const out = await docker('run', '--rm', '--network', 'none', '-v', `${root}/deploy/prometheus:/etc/prometheus:ro`, '-v', `${root}/tests/deploy/alerts.yml:/alerts.yml:ro`,
    process.env.PROMETHEUS_IMAGE, 'promtool', 'test', 'rules', '/alerts.yml');
  assert.match(out, /SUCCESS/);
});

test('Prometheus finds every broker and worker; no alert fires, and every panel has its figures', async () => {
  site.env.PROMETHEUS_PORT = String(await freePort());
  await site.compose(['--profile', 'metrics', 'up', '-d', '--no-build', '--pull', 'never', '--no-deps', 'prometheus']);
  const ask = async (what) => (await (await fetch(`http://127.0.0.1:${site.env.PROMETHEUS_PORT}/api/v1/${what}`)).json()).data;
  const targets = async () => (await ask('targets').catch(() => ({ activeTargets: [] }))).activeTargets.filter((t) => t.health === 'up').map((t) => t.labels.job).sort();
  await until('all are asked', async () => (await targets()).join() === [...Array(3).fill('errand-broker'), ...Array(4).fill('errand-worker')].join(), 40000, 500);
  const { groups } = await ask('rules');
  assert.ok(groups.flatMap((g) => g.rules).every((r) => ['ok', 'unknown'].includes(r.health)), JSON.stringify(groups));
  const board = JSON.parse(fs.readFileSync(path.join(root, 'deploy/grafana/dashboards/errand.json'), 'utf8'));
  for (const { expr } of board.panels.flatMap((p) => p.targets ?? [])) {
    const now = expr.replaceAll('$__rate_interval', '1m');
    const q = new URLSearchParams({ query: now });
    assert.equal((await ask(`query?${q}`))?.resultType, 'vector', now);
    if (/^(max|sum)\(errand_/.test(now)) assert.equal((await ask(`query?${q}`)).result.length, 1, now);
  }
  assert.deepEqual((await ask('alerts')).alerts.filter((a) => a.state === 'firing'), []);
  await site.compose(['--profile', 'metrics', 'rm', '-sf', 'prometheus']);
});

test('B26: a callback passes nginx, and its token is in no line of the log', async () => {
  const id = `00${'A'.repeat(22)}`;
  const token = 'T'.repeat(43);
  const url = `${site.origin}/hooks/${id}/${token}`;
  // Larger than nginx's buffer: it has something to say about that.
  const wrong = await fetch(url, { method: 'POST', body: JSON.stringify({ state: 'x'.repeat(200000) }) });
  assert.equal(wrong.status, 401);
  await until('it is logged', async () => (await site.logs('nginx')).includes(`/hooks/${id}/...`), 10000, 200);
  assert.ok(!(await site.logs('nginx')).includes(token));
  for (const service of ['broker', 'worker']) {
    for (const c of await site.inspect(await site.containers(service))) {
      assert.ok(c.Config.Env.includes(`ERRAND_PUBLIC_URL=${site.origin}`), `${c.Name} is told how it is reached`);
    }
  }
});

test('B1: both official clients through nginx: tasks, results, plain calls, questions, cancels', async () => {
  const l = await client(handshake);
  const m = await client(stateless);
  const tools = (await l.listTools()).tools.map((t) => t.name).sort();
  assert.deepEqual(tools, ['effect', 'question', 'stubborn', 'trace']);
  assert.deepEqual((await m.listTools()).tools.map((t) => t.name).sort(), tools);

  const stream = [];
  for await (const e of l.experimental.tasks.callToolStream({ name: 'effect', arguments: { name: 'stream', seconds: '0.5' } }, CallToolResultSchema, { task: { ttl: TTL_MS } })) stream.push(e);
  assert.equal(stream[0].type, 'taskCreated');
  assert.equal(text(stream.at(-1).result), 'did stream');
  assert.equal(text(await call(m, 'effect', { name: 'plain', seconds: '1' })), 'did plain');
  assert.equal(text(await call(l, 'question', { name: 'L' })), 'L {"n":7}');
  assert.equal(text(await call(m, 'question', { name: 'M' })), 'M {"n":7}');
  const task = await create(l, 'effect', { name: 'cancelled', seconds: '60' });
  await started(task);
  assert.equal((await l.experimental.tasks.cancelTask(task)).status, 'cancelled');
});

test('B1: tasks outlive every broker and every session: all brokers are killed, another client finds the result', async () => {
  const c = await client(handshake);
  const task = await create(c, 'effect', { name: 'outlives', seconds: '2' });
  await started(task);
  const brokers = await site.containers('broker');
  await docker('kill', ...brokers);
  await docker('start', ...brokers);
  const other = await insist(() => client(handshake));
  assert.equal((await other.experimental.tasks.listTasks()).tasks.some((t) => t.taskId === task), true);
  assert.equal(text(await result(other, task)), 'did outlives');
  assert.deepEqual(startsOf(task).map((e) => e.attempt), [1]);
});

test('B3: a blocked result always ends: by the end, by cancel, by expiry', async () => {
  const clients = await Promise.all([client(handshake), client(handshake), client(handshake)]);
  const [c] = clients;
  const done = await create(c, 'effect', { name: 'b3', seconds: '1.5' });
  const stopped = await create(c, 'effect', { name: 'b3', seconds: '60' });
  const expires = await create(c, 'effect', { name: 'b3', seconds: '60' }, { ttl: 3000 });
  const all = (task) => Promise.all(clients.map((x) => result(x, task).then(text, (e) => e)));
  const [a, b, x] = [all(done), all(stopped), all(expires)];
  await started(stopped);
  await c.experimental.tasks.cancelTask(stopped);
  assert.deepEqual(await a, ['did b3', 'did b3', 'did b3']);
  for (const e of [...await b, ...await x]) assert.ok(e instanceof Error && e.code < 0, String(e));
});

test('B4: when the time of a task is over its processes are gone, and all its keys', async () => {
  const c = await client(handshake);
  const task = await create(c, 'stubborn', {}, { ttl: 3000 });
  await started(task);
  await sleep(3000);
  await until('nothing runs', async () => (await jobs()).length === 0, 10000, 200);
  await assert.rejects(c.experimental.tasks.getTask(task), (e) => e.code === -32602);
  await until('no key is left', async () => (await site.redis('--scan', '--pattern', `*${task}*`)).length === 0, 10000, 500);
});

test('B6: a worker killed with its job: another runs it within the lease and a second, once', async () => {
  const c = await client(handshake);
  const task = await create(c, 'effect', { name: 'b6', seconds: '4' });
  await started(task);
  const name = await workerOf(task);
  assert.ok(name, 'some worker runs it');
  const began = Date.now();
  await docker('kill', name);
  await started(task, 2, LEASE_MS + 15000);
  note(`run again ${Date.now() - began} ms after the kill`);
  assert.equal((await c.experimental.tasks.getTask(task)).status, 'working');
  assert.equal(text(await result(c, task)), 'did b6');
  assert.deepEqual(startsOf(task).map((e) => e.attempt), [1, 2]);
  assert.equal(effects().filter((e) => e.what === 'end' && e.task === task).length, 1);
  await docker('start', name);
});

test('B6: a worker frozen for three leases is fenced off: its late end changes nothing', async () => {
  const c = await client(handshake);
  const task = await create(c, 'effect', { name: 'frozen', seconds: '3' });
  await started(task);
  const name = await workerOf(task);
  await docker('pause', name);
  try {
    assert.equal(text(await result(c, task)), 'did frozen');
  } finally {
    await docker('unpause', name);
  }
  assert.deepEqual(startsOf(task).map((e) => e.attempt), [1, 2]);
  await sleep(1000);
  assert.equal((await c.experimental.tasks.getTask(task)).status, 'completed');
  await until('the frozen worker is rid of it', async () => (await site.jobs(name)).length === 0, 10000, 200);
});

test('B7: Redis is killed, frozen for longer than a lease, and restarted: calls can be tried again, waiters are answered, nothing is lost', async () => {
  const others = async () => (await site.inspect([...await site.containers('broker'), ...await site.containers('worker'), ...await site.containers('nginx')])).map((c) => `${c.Name} ${c.State.Pid} ${c.RestartCount}`);
  const before = await others();
  const [redis] = await site.containers('redis');
  const clients = await Promise.all([client(handshake), client(handshake), client(stateless)]);
  const [c, other, m] = clients;
  const ready = async () => (await fetch(`${site.origin}/readyz`)).status === 200;
  const brokers = await site.containers('broker');
  const allReady = () => Promise.all(brokers.map((b) => docker('exec', b, 'errand-broker', '--probe', 'ready'))).then(() => true, () => false);
  const blows = {
    killed: [() => docker('kill', redis), () => docker('start', redis), 1500],
    frozen: [() => docker('kill', '-s', 'STOP', redis), () => docker('kill', '-s', 'CONT', redis), LEASE_MS + 1500],
    restarted: [() => docker('restart', redis), () => {}, 0],
  };
  for (const [how, [away, back, ms]] of Object.entries(blows)) {
    const done = await create(c, 'effect', { name: how, seconds: '0' });
    assert.equal(text(await result(c, done)), `did ${how}`);
    const task = await create(c, 'effect', { name: how, seconds: '2.5' });
    const waiting = [result(c, task), result(other, task), call(m, 'effect', { name: how, seconds: '2.5' })].map((r) => r.then(text));
    await started(task);
    await until('three wait', async () => (await site.metric('errand_waiters')) === 3, 2000, 50);
    await away();
    if (ms > 0) {
      await until('not ready', async () => !(await ready()), 5000, 100);
      const refused = await new Modern(site.url, { key: site.key, tasks: true }).request('tools/call', { name: 'effect', arguments: { name: how, seconds: '0' } });
      assert.equal(refused.http.status, 503);
      assert.equal(refused.error.code, -32603);
      await sleep(ms);
    }
    await back();
    const began = Date.now();
    await until('all are ready again', allReady, 15000, 100);
    note(`Redis ${how}: all are ready again after ${Date.now() - began} ms`);
    assert.deepEqual(await Promise.all(waiting), Array(3).fill(`did ${how}`));
    assert.equal((await c.experimental.tasks.getTask(task)).status, 'completed');
    // What had been answered before is there, and all that a client can do goes on.
    assert.equal(text(await result(other, done)), `did ${how}`);
    const fresh = await create(other, 'effect', { name: how, seconds: '60' });
    await started(fresh);
    const waiter = result(c, fresh).catch((e) => e);
    assert.equal((await other.experimental.tasks.cancelTask(fresh)).status, 'cancelled');
    assert.ok((await waiter).code < 0);
  }
  assert.deepEqual(await others(), before, 'nothing but Redis was started again');
});

test('B28: a trace goes through nginx, broker and worker into the job, and stands in the logs of both', async () => {
  const logged = async (service, event, task) => (await site.logs(service)).split('\n').filter((l) => l.includes(`"event":"${event}"`))
    .map((l) => JSON.parse(l.slice(l.indexOf('{')))).find((l) => l.task === task);
  const line = (service, event, task) => until(`${event} of ${task}`, () => logged(service, event, task), 10000, 200);
  const [byMeta, byHeader] = ['a1', 'b2'].map((x) => x.repeat(16));
  const parent = '00f067aa0ba902b7';
  const c = await client(handshake);
  const params = { name: 'trace', arguments: {}, task: { ttl: TTL_MS }, _meta: { traceparent: `00-${byMeta}-${parent}-01` } };
  const { taskId } = (await c.request({ method: 'tools/call', params }, CreateTaskResultSchema)).task;
  const seen = text(await result(c, taskId)).split('-');
  assert.equal(seen[1], byMeta);
  assert.notEqual(seen[2], parent, 'the execution is a span of its own');
  for (const [service, event] of [['broker', 'TASK_CREATED'], ['worker', 'JOB_ENDED']]) {
    const l = await line(service, event, taskId);
    assert.equal(l.trace, byMeta, event);
    assert.equal(l.principal, 'tests', event);
    assert.equal(l.tool, 'trace', event);
  }
  assert.equal((await line('broker', 'TASK_RETRIEVED', taskId)).principal, 'tests');

  const m = new Modern(site.url, { key: site.key });
  const r = await m.request('tools/call', { name: 'trace', arguments: {} }, { headers: { traceparent: `00-${byHeader}-${parent}-01` } });
  assert.equal(text(r.result).split('-')[1], byHeader);
  m.close();
  for (const service of ['broker', 'worker', 'nginx']) assert.ok(!(await site.logs(service)).includes(site.key.slice(4)), `no key in the log of ${service}`);
});

test('B22: brokers and workers are restarted one after the other under load: no client meets an error', async () => {
  const errors = [];
  let calls = 0;
  let over = false;
  const loop = async (make, step) => {
    const c = await client(make);
    for (let i = 0; !over; i++) {
      try {
        await step(c, i);
        calls++;
      } catch (e) {
        errors.push(`${Date.now()} ${e.stack}`);
      }
    }
  };
  const name = (i) => ({ name: `roll${i}`, seconds: i % 4 === 0 ? '0.6' : '0' });
  const tasks = async (c, i) => {
    const task = await create(c, 'effect', name(i));
    const [now, r] = await Promise.all([c.experimental.tasks.getTask(task), result(c, task)]);
    assert.ok(['working', 'completed'].includes(now.status));
    assert.equal(text(r), `did roll${i}`);
  };
  const calling = async (c, i) => assert.equal(text(await call(c, 'effect', name(i))), `did roll${i}`);
  const load = [loop(handshake, tasks), loop(handshake, tasks), loop(handshake, calling), loop(stateless, calling), loop(stateless, calling)];
  for (const c of [...await site.containers('broker'), ...(await site.containers('worker')).slice(0, 2)]) {
    const began = Date.now();
    await docker('stop', c);
    const [{ State: s }] = await site.inspect(c);
    assert.equal(s.ExitCode, 0, `${c} left in good order`);
    assert.ok(Date.now() - began < 30000);
    await docker('start', c);
    await site.healthy(c);
  }
  over = true;
  await Promise.all(load);
  note(`${calls} calls while five containers were restarted`);
  assert.ok(calls > 50);
  if (errors.length) errors.push(...(await site.logs('nginx', 5000)).split('\n').filter((l) => !/"status":2/.test(l)).slice(-20));
  assert.deepEqual(errors, []);
});

test('accepted tasks end exactly once, whatever dies meanwhile, and no process stays behind', async () => {
  note(await chaos(site, CHAOS_MS, TTL_MS));
  // A job that asks a client that is gone ends with its task's time.
  await until('no job runs', async () => (await jobs()).length === 0, TTL_MS + 15000, 500);
});

test('B23: idle brokers and workers cost next to nothing', async () => {
  const names = [...await site.containers('broker'), ...await site.containers('worker')];
  const ticks = async () => (await Promise.all(names.map((n) => docker('top', n, '-eo', 'pid,times,rss,comm')))).map((t) => t.trim().split('\n')[1].trim().split(/\s+/).map(Number));
  const first = await ticks();
  await sleep(6000);
  const last = await ticks();
  names.forEach((n, i) => {
    assert.ok(last[i][1] - first[i][1] <= 1, `${n} used a second of CPU in six idle ones`);
    assert.ok(last[i][2] < 64 * 1024, `${n} holds ${last[i][2]} KiB`);
  });
});

test('B23: no key of a task is left a while after its time', async () => {
  const left = async () => (await site.redis('--scan')).filter((k) => /:(t|o|oa|im):/.test(k));
  await until('no key of a task is left', async () => (await left()).length === 0, TTL_MS + 60000, 1000).catch(async (e) => {
    assert.fail(`${e.message}: ${(await left()).slice(0, 10).join(' ')}`);
  });
});

test('with compose.valkey.yaml the same programs go on with Valkey, though it knows nothing yet', async () => {
  await site.replace('redis', 'compose.valkey.yaml');
  site.env.ERRAND_KEY = site.key = (await insist(() => site.cli('key', 'new', '--name', 'valkey'))).trim().split('\n').pop();
  const c = await insist(() => client(handshake));
  const task = await insist(() => create(c, 'effect', { name: 'valkey', seconds: '0.5' }));
  assert.equal(text(await result(c, task)), 'did valkey');
  const [name] = await site.containers('redis');
  assert.match(await docker('top', name, '-eo', 'pid,comm'), /valkey-server/);
});

test('with compose.tls.yaml nginx speaks TLS, HTTP/2 too, and takes up a new certificate on SIGHUP', async () => {
  const at = (file) => path.join(process.env.ERRAND_SECRETS, file);
  const certify = async () => {
    await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '1', '-keyout', at('new-key'), '-out', at('new-certificate')]);
    for (const file of ['key', 'certificate']) {
      // In place: the container has these files, not their names.
      fs.writeFileSync(at(`tls-${file}`), fs.readFileSync(at(`new-${file}`)));
      fs.chmodSync(at(`tls-${file}`), 0o444);
      fs.rmSync(at(`new-${file}`));
    }
  };
  await certify();
  for (const c of open.splice(0)) await c.close().catch(() => {}); // nginx waits for its streams
  site.env.ERRAND_TLS_PORT = String(await freePort());
  await site.replace('nginx', 'compose.tls.yaml');
  const origin = `https://localhost:${site.env.ERRAND_TLS_PORT}`;
  const status = () => new Promise((resolve) => {
    const options = { agent: false, host: '127.0.0.1', port: site.env.ERRAND_TLS_PORT, path: '/readyz', ca: fs.readFileSync(at('tls-certificate')), servername: 'localhost' };
    https.get(options, (r) => resolve(r.resume().statusCode)).on('error', (e) => resolve(e.code));
  });
  await until('it answers', async () => (await status()) === 200, 10000, 200);
  assert.equal(await initialize(origin, fs.readFileSync(at('tls-certificate'))), '2025-11-25');

  fs.chmodSync(at('tls-key'), 0o644);
  fs.chmodSync(at('tls-certificate'), 0o644);
  await certify();
  assert.notEqual(await status(), 200, 'it still shows the one before');
  await docker('kill', '-s', 'HUP', ...await site.containers('nginx'));
  await until('it shows the new one', async () => (await status()) === 200, 10000, 200);
});
