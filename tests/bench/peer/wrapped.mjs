// wrapped.mjs direct SECONDS WARMUP | errand SECONDS WARMUP PORT - calls a tool of a real stdio
// server, one call at a time: over a pipe of its own, or through a broker and a worker that wrap it.
// Prints as the load generator does; call: what one call took, in microseconds.
import { spawn } from 'node:child_process';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { everything } from './packages.mjs';

const [how, seconds, warmup, port] = process.argv.slice(2);
const hello = {
  protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' },
};

function direct() {
  const child = spawn(process.execPath, [everything(), 'stdio'], { stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  const tell = (m) => child.stdin.write(`${JSON.stringify(m)}\n`);
  return {
    name: 'echo',
    tell,
    ask: (m) => new Promise((resolve) => { waiting.set(m.id, resolve); tell(m); }),
    close: () => child.kill(),
  };
}

// A connection of its own, written and read by hand: what Node's HTTP client takes of a
// millisecond is not errand's. It takes no event streams, so every answer comes as it is.
function through() {
  const socket = net.connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
  let got = '';
  let session = '';
  let resolve;
  socket.on('data', (data) => {
    got += data;
    const end = got.indexOf('\r\n\r\n') + 4;
    if (end < 4) return;
    const length = Number(/^content-length: *(\d+)/im.exec(got)?.[1] ?? 0);
    if (got.length < end + length) return;
    session ||= /^mcp-session-id: *(.*)\r$/im.exec(got.slice(0, end))?.[1] ?? '';
    const text = got.slice(end, end + length);
    got = '';
    resolve(text && JSON.parse(text));
  });
  const ask = (m) => new Promise((done) => {
    const text = JSON.stringify(m);
    resolve = done;
    socket.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${session && `Mcp-Session-Id: ${session}\r\n`}`
      + 'Content-Type: application/json\r\nAccept: application/json\r\n'
      + `Content-Length: ${text.length}\r\n\r\n${text}`);
  });
  return { name: 'every_echo', tell: ask, ask, close: () => socket.destroy() };
}

const peer = how === 'direct' ? direct() : through();
let id = 0;
const request = (method, params) => peer.ask({ jsonrpc: '2.0', id: ++id, method, params });

async function call() {
  const answer = await request('tools/call', { name: peer.name, arguments: { message: 'x' } });
  if (answer.result?.content?.[0]?.text !== 'Echo: x') throw new Error(`no echo: ${JSON.stringify(answer)}`);
}

async function callFor(ms) {
  const took = [];
  const start = performance.now();
  for (let now = start; now < start + ms;) {
    await call();
    const then = performance.now();
    took.push((then - now) * 1000);
    now = then;
  }
  return took.sort((a, b) => a - b);
}

await request('initialize', hello);
await peer.tell({ jsonrpc: '2.0', method: 'notifications/initialized' });
await callFor(warmup * 1000);
console.log('started');
const took = await callFor(seconds * 1000);
const at = (share) => took[Math.floor((took.length - 1) * share)];
console.log(JSON.stringify({ n: took.length, seconds: Number(seconds), call: { p50: at(0.5), p99: at(0.99) } }));
peer.close();
