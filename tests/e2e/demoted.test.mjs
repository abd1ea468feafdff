// A primary that is made a replica, without Sentinel: whoever has its name now is found (B7).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { World, freePort, lines, until } from '../lib/errand.mjs';
import { Redis } from '../lib/resp.mjs';

const w = new World();
const tools = { tools: [{ name: 'job', description: 'Runs for a while.', inputSchema: { type: 'object' }, run: { command: ['sh', '-c', 'echo start >>"$1"; while [ "$2" = told ] && [ ! -e "$1.go" ]; do sleep 0.05; done; echo end >>"$1"; echo "ran $ERRAND_ATTEMPT"', 'sh', '{file}', '{until}'] } }] };
const name = path.join(w.dir, 'primary.sock'); // leads to one of the two
let other; // { db, port, socket }
let first; // port
let a;
let b;
let c;

const lead = (socket) => {
  fs.symlinkSync(socket, `${name}.new`);
  fs.renameSync(`${name}.new`, name);
};

async function startOther() {
  const dir = path.join(w.dir, 'other');
  const socket = path.join(dir, 'redis.sock');
  const port = await freePort();
  fs.mkdirSync(dir);
  w.run('other', [w.server, '--port', String(port), '--bind', '127.0.0.1', '--unixsocket', socket, '--dir', dir, '--save', '',
    '--replicaof', `127.0.0.1 ${first}`, '--repl-diskless-sync-delay', '0']);
  const db = await until('the other answers', async () => {
    const one = fs.existsSync(socket) && new Redis(socket);
    return one && (await one.call('PING').catch(() => '')) === 'PONG' && one;
  });
  return { db, port, socket };
}

// What the primary holds now, its replica holds too.
const synced = () => until('the replica has it all', async () => {
  const info = async (db) => Object.fromEntries((await db.call('INFO', 'replication')).split('\r\n').map((l) => l.split(':')));
  const mine = await info(w.db);
  const its = await info(other.db);
  return its.master_link_status === 'up' && Number(its.slave_repl_offset) >= Number(mine.master_repl_offset);
}, 20000);

before(async () => {
  first = await freePort();
  await w.startRedis({ args: ['--port', String(first), '--bind', '127.0.0.1'] });
  other = await startOther();
  lead(w.socket);
  w.redisUrl = `unix://${name}`;
  [a, b] = await Promise.all([w.startBroker(), w.startBroker(), w.startWorker({ tools, args: ['--lease', '60s'] })]);
  c = await w.connect(a, { tool: 'job' });
});
after(() => {
  other?.db.close();
  return w.stop();
});

test('B7: the primary is made a replica and its name given to another: what runs ends there, once, and all goes on', async () => {
  const file = path.join(w.dir, 'effects');
  const stream = await c.at(b).openStream();
  const { taskId } = await c.createTask('job', { file, until: 'told' });
  const waiting = c.at(b).result('tasks/result', { taskId });
  await until('it runs', () => lines(file).length === 1);
  await w.waiters(b, 1, c);
  await synced();
  await other.db.call('REPLICAOF', 'NO', 'ONE');
  await w.db.call('REPLICAOF', '127.0.0.1', String(other.port));
  lead(other.socket);
  await until('a task is made', async () => (await c.request('tools/call', { name: 'job', arguments: { file: '/dev/null', until: 'now' }, task: {} })).result);
  await until('all listen to the other', async () => (await other.db.call('CLIENT', 'LIST')).split('-sub ').length === 4);
  fs.writeFileSync(`${file}.go`, '');
  assert.equal((await waiting).content[0].text, 'ran 1\n');
  assert.deepEqual(lines(file), ['start', 'end']);
  await until('its end is told', () => stream.messages.some((m) => m.params?.taskId === taskId && m.params.status === 'completed'));
  assert.match(a.log, /event=LINK_DOWN .*link=commands .*why="READONLY /);
});
