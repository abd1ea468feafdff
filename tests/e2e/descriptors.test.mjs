// A broker that has no descriptor left for clients: those it needs for Redis no client gets (L-22, B7).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { World, bin, openFiles, sleep, until } from '../lib/errand.mjs';

const w = new World();
const LIMIT = 96;
let a;
let c;

before(async () => {
  await w.startRedis();
  const program = path.join(w.dir, 'few');
  fs.writeFileSync(program, `#!/bin/sh\nulimit -n ${LIMIT}\nexec '${path.join(bin, 'errand-broker')}' "$@"\n`, { mode: 0o755 });
  [a] = await Promise.all([w.startBroker({ program }), w.startWorker()]);
  c = await w.connect(a, { tool: 'echo' });
});
after(() => w.stop());

const links = async () => (await w.db.call('CLIENT', 'LIST')).split('\n').filter((l) => l.includes('name=errand-broker-'))
  .map((l) => / id=(\d+)|^id=(\d+)/.exec(l)).map((m) => m[1] ?? m[2]);

test('L-22 B7: its links to Redis are dialled again while clients take every descriptor they can have', async () => {
  const before = await links();
  assert.equal(before.length, 2);
  const crowd = Array.from({ length: 2 * LIMIT }, () => {
    const s = net.connect(a.port, '127.0.0.1');
    s.on('error', () => {});
    s.write('POST /mcp HTTP/1.1\r\nHost: x\r\n'); // and nobody is idle
    return s;
  });
  await until('it is full', () => openFiles(a.pid) >= LIMIT - 16);
  await until('some are refused', () => crowd.some((s) => s.bytesRead > 0));
  assert.ok(openFiles(a.pid) < LIMIT - 4, `${openFiles(a.pid)} of ${LIMIT}`);
  for (const id of before) await w.db.call('CLIENT', 'KILL', 'ID', id);
  await until('both are back', async () => {
    const now = await links();
    return now.length === 2 && !now.some((id) => before.includes(id));
  });
  await sleep(200);
  for (const s of crowd) s.destroy();
  const r = await until('it serves', () => c.callTool('echo', { text: 'x' }).catch(() => null));
  assert.ok(!r.isError);
});
