// Big payloads: family B21. What fits comes out byte for byte; what does not is refused in bounds,
// and everybody lives on.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { World, ofTask, until } from '../lib/errand.mjs';
import { exchange, messageIn } from '../lib/client.mjs';
import { Modern } from '../lib/modern.mjs';

const MIB = 1 << 20;
const BODY = MIB; // --max-body's default
const w = new World();
let a;
let b;
let small; // a broker with a small --max-result
let worker;
let c;

const sh = (name, script, more = {}) => ({ name, description: 'A tool.', inputSchema: { type: 'object' }, run: { command: ['sh', '-c', script, 'sh', '{n}'], ...more } });
const letters = (n) => `head -c ${n} /dev/zero | tr '\\0' x`;
const tools = {
  tools: [
    sh('sum', 'sha256sum | cut -c1-64'),
    sh('letters', letters('"$1"')),
    sh('object', `printf '{"big":"'; ${letters('"$1"')}; printf '"}'`, { output: 'json' }),
    sh('complains', `${letters('"$1"')} >&2; echo end >&2; exit 1`),
    sh('endless', 'yes >&2 & yes'),
    sh('babbles', `{ printf '{"jsonrpc":"2.0","id":"big","method":"elicitation/create","params":{"message":"'; ${letters('"$1"')}; printf '"}}\\n{"jsonrpc":"2.0","id":1,"method":"ping"}\\n'; } >&3; IFS= read -r one <&3; IFS= read -r two <&3; printf '%s\\n%s' "$one" "$two"`),
    sh('silent', `exec 3>&-; echo "fine"`),
  ],
};

before(async () => {
  await w.startRedis();
  const start = (...more) => w.startBroker({ args: ['--rate', '0', ...more] });
  [a, b, small] = await Promise.all([start(), start(), start('--max-result', '100k')]);
  worker = await w.startWorker({ tools, args: ['--slots', '8'] });
  c = await w.connect(a, { tool: 'sum' });
});
after(() => w.stop());

const lives = async () => {
  for (const p of [a, b, small, worker]) assert.equal(p.status, undefined, `${p.name}: ${p.log.slice(-500)}`);
  assert.equal((await c.callTool('sum', {})).isError, false);
};
const rss = (pid) => Number(fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+(\d+) kB/)[1]) * 1024;
const text = (r) => r.content[0].text;
const call = (bytes) => {
  const frame = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'sum', arguments: { text: '' } } });
  return frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`);
};

test('B21: arguments up to --max-body reach the job byte for byte', async () => {
  const body = call(BODY);
  assert.equal(Buffer.byteLength(body), BODY);
  const r = await c.post(body);
  assert.equal(r.status, 200);
  const sent = body.slice(body.indexOf('{"text"'), -2);
  assert.equal(text(r.messages.at(-1).result).trim(), createHash('sha256').update(sent).digest('hex'));
});

test('B21: one byte more is 413 with -32600, and the connection goes on', async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set();
  for (const [body, status] of [[call(BODY + 1), 413], [call(BODY), 200], [call(BODY + 30000), 413], [call(1000), 200]]) {
    const r = await exchange(a.url, { headers: c.headers(), body, agent });
    assert.equal(r.status, status);
    if (status === 413) assert.equal(JSON.parse(r.body.toString()).error.code, -32600);
    for (const sockets of [...Object.values(agent.sockets), ...Object.values(agent.freeSockets)]) for (const s of sockets) ports.add(s.localPort);
  }
  assert.equal(ports.size, 1, 'all on one connection');
  agent.destroy();
});

test('B21: 50 MiB are refused before they have come', async () => {
  const before = rss(a.pid);
  await Promise.all(Array.from({ length: 4 }, async () => {
    const r = await exchange(a.url, { headers: c.headers(), body: call(50 * MIB) }).catch((e) => e);
    assert.ok(r.status === 413 || ['ECONNRESET', 'EPIPE'].includes(r.code), `${r.status} ${r.code}`);
  }));
  assert.ok(rss(a.pid) < before + 20 * MIB, `${before} -> ${rss(a.pid)} bytes`);
  await lives();
});

test('B21: JSON that is 10,000 deep, or has 60,000 values, is refused, and nothing is made of it', async () => {
  const keys = new Set(await w.keys());
  const bodies = [
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sum","arguments":{"a":${'['.repeat(10000)}${']'.repeat(10000)}}}}`,
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sum","arguments":{"a":${'{"a":'.repeat(10000)}1${'}'.repeat(10000)}}}}`,
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sum","arguments":{"a":[${'1,'.repeat(60000)}1]}}}`,
    '['.repeat(500000),
  ];
  for (const body of bodies) {
    const r = await c.post(body);
    assert.equal(r.status, 400);
    assert.ok([-32700, -32600].includes(JSON.parse(r.text).error.code), r.text);
  }
  assert.deepEqual((await w.keys()).filter((k) => !keys.has(k)), []);
  await lives();
});

test('B21: a result of 15 MiB comes whole, in both dialects, at any broker, in place and later', async () => {
  const n = 15 * MIB;
  const whole = (t) => assert.ok(t.length === n && /^x+$/.test(t), `${t.length} bytes`);
  whole(text(await c.callTool('letters', { n })));
  const { taskId } = await c.createTask('letters', { n });
  whole(text(await c.at(b).result('tasks/result', { taskId })));
  const m = new Modern(b.url, { tasks: true });
  whole(text((await m.get(taskId)).result));
  m.close();
});

test('B21: a result that grows beyond 16 MiB as JSON, and output without end, are errors that say so', async () => {
  // structuredContent and its text block: twice the output.
  const twice = await c.callTool('object', { n: 12 * MIB });
  assert.equal(twice.isError, true);
  assert.match(text(twice), /larger than 16 MiB/);
  const more = await c.callTool('letters', { n: 20 * MIB });
  assert.equal(more.isError, true);
  assert.match(text(more), /larger than 16 MiB/);
  const { taskId } = await c.createTask('endless');
  const r = await c.result('tasks/result', { taskId });
  assert.equal(r.isError, true);
  await until('it is gone', () => ofTask(taskId).length === 0, 5000);
  assert.equal((await c.getTask(taskId)).status, 'failed');
  await lives();
});

test('B21: of endless complaints the end is told', async () => {
  const r = await c.callTool('complains', { n: 50 * MIB });
  assert.equal(r.isError, true);
  assert.ok(text(r).length < 10000 && /end\nexit status 1$/.test(text(r)), text(r).slice(-100));
});

test('B21: a line of 8 MiB on descriptor 3 is refused, and the job can go on', async () => {
  const r = await c.callTool('babbles', { n: 8 * MIB });
  const [one, two] = text(r).split('\n').map((l) => JSON.parse(l));
  assert.ok([-32600, -32700].includes(one.error.code), text(r));
  assert.deepEqual([two.id, two.result], [1, {}]);
  assert.equal(text(await c.callTool('silent')).trim(), 'fine');
});

test('B21: a broker with a smaller --max-result answers what is larger with an error that says so', async () => {
  const s = await w.connect(small, { tool: 'letters' });
  assert.equal(text(await s.callTool('letters', { n: 90 * 1024 })).length, 90 * 1024);
  for (const n of [110 * 1024, 200 * 1024, MIB]) {
    const { taskId } = await s.createTask('letters', { n });
    const r = await s.request('tasks/result', { taskId });
    assert.equal(r.error?.code, -32603, `${n}: ${JSON.stringify(r).slice(0, 200)}`);
    assert.match(r.error.message, /larger than/);
    assert.equal(text(await s.at(a).result('tasks/result', { taskId })).length, n, 'another broker may have room');
    const plain = await s.request('tools/call', { name: 'letters', arguments: { n } });
    assert.equal(plain.error?.code, -32603);
  }
  const m = new Modern(small.url, { tasks: true });
  const { taskId } = await s.createTask('letters', { n: MIB });
  await until('it has ended', async () => (await s.getTask(taskId)).status === 'completed');
  const got = await m.request('tasks/get', { taskId });
  assert.equal(got.error?.code, -32603, JSON.stringify(got).slice(0, 200));
  m.close();
  await lives();
});

test('B21: big answers to many at once, and to one who reads slowly, come whole', async () => {
  const n = 4 * MIB;
  const { taskId } = await c.createTask('letters', { n });
  await c.result('tasks/result', { taskId });
  const all = await Promise.all(Array.from({ length: 12 }, (_, i) => c.at(i % 2 ? a : b).result('tasks/result', { taskId })));
  for (const r of all) assert.equal(text(r).length, n);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/result', params: { taskId } });
  const slow = await new Promise((resolve, reject) => {
    const r = http.request(a.url, { method: 'POST', headers: { ...c.headers(), 'content-length': body.length } }, (res) => {
      const parts = [];
      res.on('data', (d) => {
        parts.push(d);
        res.pause();
        setTimeout(() => res.resume(), 15);
      });
      res.on('end', () => resolve(Buffer.concat(parts).toString()));
      res.on('error', reject);
    });
    r.on('error', reject);
    r.end(body);
  });
  assert.equal(text(JSON.parse(messageIn(slow)).result).length, n);
  await lives();
});
