// nginx as deploy/ configures it, before real brokers: what it says by itself is said as brokers say
// it. tests/deploy has the same in containers.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { exchange } from '../lib/client.mjs';
import { World, freePort, root, until } from '../lib/errand.mjs';

const nginx = ['/usr/sbin/nginx', '/usr/bin/nginx'].find((p) => fs.existsSync(p));
const skip = nginx ? false : 'there is no nginx here';
const w = new World();
let broker;
let url;
let origin;

// The configuration as it is, but for where things are on this machine.
function configure(port) {
  const file = (name) => path.join(w.dir, name);
  const change = (name, ...changes) => {
    let text = fs.readFileSync(path.join(root, 'deploy', name), 'utf8');
    for (const [from, to] of changes) {
      assert.ok(text.includes(from), `${from} in ${name}`);
      text = text.replaceAll(from, to);
    }
    fs.writeFileSync(file(name), text);
  };
  fs.mkdirSync(file('tmp'));
  change('nginx.conf', ['/tmp/', `${file('tmp')}/`], ['/dev/stdout', file('access.log')], ['worker_processes auto', 'worker_processes 1'],
    ['/etc/errand/listen.conf', file('nginx.listen.conf')]);
  change('nginx.listen.conf', ['listen 8080', `listen 127.0.0.1:${port}`], ['/etc/errand/server.conf', file('nginx.server.conf')]);
  change('nginx.server.conf', ['broker:8080', `127.0.0.1:${broker.port}`]);
  return file('nginx.conf');
}

before(async () => {
  if (skip) return;
  await w.startRedis();
  broker = await w.startBroker();
  const port = await freePort();
  const argv = [nginx, '-e', 'stderr', '-c', configure(port), '-g', 'daemon off; master_process off;'];
  execFileSync(argv[0], ['-t', ...argv.slice(1, -2)], { stdio: 'pipe' });
  // One process: a master that is killed leaves its workers behind.
  w.program('nginx', argv);
  origin = `http://127.0.0.1:${port}`;
  url = `${origin}/mcp`;
  await until('nginx answers', async () => (await fetch(`${origin}/readyz`).catch(() => ({}))).status === 200);
});
after(() => w.stop());

const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const message = (bytes) => {
  const frame = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: { pad: '' } } });
  return frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`);
};

// One exchange as these bytes; what comes until the connection ends.
const raw = (text) => new Promise((resolve, reject) => {
  const s = net.connect(Number(new URL(url).port), '127.0.0.1', () => s.write(text));
  let got = '';
  s.on('data', (d) => { got += d; });
  s.on('end', () => resolve(got));
  s.on('error', reject);
});

function isError(r, status, code) {
  assert.equal(r.status, status);
  assert.equal(r.headers['content-type'], 'application/json');
  const { jsonrpc, error, ...rest } = JSON.parse(r.body.toString());
  assert.deepEqual([jsonrpc, error.code, rest], ['2.0', code, {}]);
  assert.match(error.message, /^[a-z].*[^.]$/);
  return error.message;
}

test('B21: a body over the limit is the same 413 from nginx as from a broker', { skip }, async () => {
  const MIB = 1 << 20;
  const [far, near] = await Promise.all([url, broker.url].map((to) => exchange(to, { headers, body: message(MIB + 1) })));
  isError(far, 413, -32600);
  assert.deepEqual(far.body, near.body);
  const whole = await exchange(url, { headers, body: message(MIB) });
  assert.notEqual(whole.status, 413, 'up to the limit it is the broker that answers');
});

test('what nginx cannot read is a JSON-RPC error too', { skip }, async () => {
  const host = `Host: 127.0.0.1\r\nConnection: close\r\n`;
  const bad = [
    [`POST /mcp HTTP/1.1\r\n${host}X: ${'x'.repeat(10000)}\r\n\r\n`, 400],
    [`GET /${'x'.repeat(10000)} HTTP/1.1\r\n${host}\r\n`, 414],
    [`POST /mcp HTTP/1.1\r\nConnection: close\r\n\r\n`, 400],
    [`POST /mcp HTTP/1.1\r\n${host}Content-Length: many\r\n\r\n`, 400],
    [`POST /mcp HTTP/1.1\r\n${host}Transfer-Encoding: strange\r\n\r\n{}`, 501],
    [`TRACE /mcp HTTP/1.1\r\n${host}\r\n`, 405],
    ['nonsense\r\n\r\n', 400],
  ];
  for (const [text, status] of bad) {
    const [head, body] = (await raw(text)).split('\r\n\r\n');
    const name = text.slice(0, 60);
    assert.match(head, new RegExp(`^HTTP/1.1 ${status} `), `${name}: ${head}`);
    assert.match(head, /^Content-Type: application\/json\r?$/m, name);
    assert.equal(JSON.parse(body).error.code, -32600, name);
  }
});

test('B7: with no broker to be reached, nginx says so in one sentence, and when to ask again', { skip }, async () => {
  await broker.kill('SIGTERM');
  for (const to of [url, `${origin}/hooks/a/b`]) {
    const r = await exchange(to, { headers, body: message(200) });
    isError(r, 503, -32603);
    assert.ok(Number(r.headers['retry-after']) > 0);
  }
});
