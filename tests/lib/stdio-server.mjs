// stdio-server.mjs - a scripted MCP server on standard input and output, that does what a good or a bad
// one may do. Every line it is sent is appended to the file named by $LOG, after the process id. The
// arguments of tools/call come back byte for byte: nothing is parsed for that.
import fs from 'node:fs';

const log = (line) => process.env.LOG && fs.appendFileSync(process.env.LOG, `${process.pid} ${line}\n`);
const write = (text) => process.stdout.write(`${text}\n`);
const send = (m) => write(JSON.stringify({ jsonrpc: '2.0', ...m }));
const answer = (id, result) => send({ id, result });
const raw = (id, result) => write(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
const text = (t, more = {}) => ({ content: [{ type: 'text', text: t }], ...more });
const object = { type: 'object' };
const later = (ms, fn) => setTimeout(fn, ms);

// What has numbers and members that no parser may touch on the way.
export const odd = '{"name":"odd","title":"An odd one","description":"d","inputSchema":{"type":"object","properties":{"n":{"type":"number","default":1e2,"x-big":12345678901234567890}}},"annotations":{"readOnlyHint":true,"title":"T"},"icons":[{"src":"data:,x"}],"_meta":{"dev.test/n":1.50}}';

const scheme = process.env.SCHEME ?? 'test';
let extra = false;
let nextId = 0;
const asked = new Map(); // our request id -> what to do with the answer
const cancelled = new Set();

function ask(method, params, then) {
  nextId += 1;
  asked.set(nextId, then);
  send({ id: nextId, method, params });
  return nextId;
}

const form = (message) => ({ message, requestedSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } });
const argumentsOf = (line) => /"arguments":(\{.*\}),"_meta":/.exec(line)[1];

const tools = {
  odd: (id, a, m, line) => raw(id, `{"content":[{"type":"text","text":"x"}],"structuredContent":{"got":${argumentsOf(line)}},"_meta":{"dev.test/n":1.50}}`),
  echo: (id, a) => answer(id, text(`${a.text}`)),
  meta: (id, a, m) => answer(id, text(JSON.stringify(m.params._meta))),
  env: (id) => answer(id, text(JSON.stringify(process.env))),
  error: (id) => write(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32050,"message":"not today","data":{"n":1.50}}}`),
  bad: (id) => answer(id, text('it is bad', { isError: true })),
  talk: (id, a, m) => {
    const { progressToken } = m.params._meta;
    send({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2, message: 'half' } });
    send({ method: 'notifications/message', params: { level: 'warning', logger: 'x', data: { a: 1 } } });
    later(Number(a.ms ?? 200), () => {
      send({ method: 'notifications/progress', params: { progressToken, progress: 2, total: 2 } });
      later(50, () => answer(id, text('talked')));
    });
  },
  ask: (id, a) => later(Number(a.ms ?? 0), () => ask('elicitation/create', form(a.text ?? 'How many?'), (r) => answer(id, text(JSON.stringify(r.result ?? r.error))))),
  sample: (id) => ask('sampling/createMessage', { messages: [{ role: 'user', content: { type: 'text', text: 'x' } }], maxTokens: 5 }, (r) => answer(id, text(JSON.stringify(r.result ?? r.error)))),
  roots: (id) => ask('roots/list', undefined, (r) => answer(id, text(JSON.stringify(r.result ?? r.error)))),
  change: (id) => {
    const question = ask('elicitation/create', form('Never mind'), () => {});
    later(300, () => {
      send({ method: 'notifications/cancelled', params: { requestId: question } });
      later(100, () => answer(id, text('took it back')));
    });
  },
  pid: (id) => answer(id, text(String(process.pid))),
  wait: (id, a) => later(Number(a.ms ?? 500), () => !cancelled.has(id) && answer(id, text(String(process.pid)))),
  polite: (id) => { // ends when it is cancelled, with an answer nobody may see
    const timer = setInterval(() => {
      if (!cancelled.has(id)) return;
      clearInterval(timer);
      answer(id, text('cancelled'));
    }, 20);
  },
  deaf: () => {},
  spill: () => {
    fs.writeSync(2, `cannot log in as ${process.env.SECRET}\n`);
    process.exit(3);
  },
  crash: () => {
    console.error('something broke badly');
    process.exit(3);
  },
  once: (id) => { // crashes the first time, as far as the file of that name knows
    if (fs.existsSync(process.env.ONCE)) return answer(id, text('second'));
    fs.writeFileSync(process.env.ONCE, '');
    return process.exit(3);
  },
  big: (id, a) => answer(id, text('x'.repeat(Number(a.n)))),
  grow: (id) => {
    extra = true;
    send({ method: 'notifications/tools/list_changed' });
    answer(id, text('grown'));
  },
  junk: (id) => {
    write('this is not JSON');
    write('[1,2]');
    write('{"jsonrpc":"2.0","id":99999,"result":{}}');
    answer(id, text('still here'));
  },
  touch: (id) => {
    send({ method: 'notifications/resources/updated', params: { uri: `${scheme}:///a` } });
    answer(id, text('touched'));
  },
  tasked: (id) => answer(id, { task: { taskId: 'T1', status: 'working', createdAt: new Date().toISOString(), lastUpdatedAt: new Date().toISOString(), ttl: null } }),
};
const notes = {
  once: { annotations: { idempotentHint: true } },
  tasked: { execution: { taskSupport: 'required' } },
};

function listTools(id, cursor) {
  const names = Object.keys(tools).filter((n) => n !== 'odd');
  const half = Math.ceil(names.length / 2);
  const some = (cursor === 'ab "c' ? names.slice(half) : names.slice(0, half)).map((name) => JSON.stringify({ name, inputSchema: object, ...notes[name] }));
  if (cursor === 'ab "c') {
    some.push(JSON.stringify({ name: 'unsupported', inputSchema: { type: 'object', $dynamicRef: 7 } }), JSON.stringify({ name: 'no name!', inputSchema: object }));
    if (extra) some.push(JSON.stringify({ name: 'extra', inputSchema: object }));
  } else {
    some.unshift(odd);
  }
  raw(id, `{"tools":[${some}]${cursor ? '' : ',"nextCursor":"ab \\"c"'}}`);
}

const methods = {
  initialize: (id, m) => {
    if (process.env.HANG_START) return;
    answer(id, {
      protocolVersion: process.env.VERSION ?? m.params.protocolVersion,
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, prompts: { listChanged: true }, completions: {}, logging: {} },
      serverInfo: { name: 'scripted', version: '1' },
    });
  },
  ping: (id) => answer(id, {}),
  'tools/list': (id, m) => listTools(id, m.params?.cursor),
  'resources/list': (id) => raw(id, `{"resources":[{"uri":"${scheme}:///a","name":"a","size":1e1,"_meta":{"n":1.50}}]}`),
  'resources/templates/list': (id) => raw(id, `{"resourceTemplates":[{"uriTemplate":"${scheme}:///{x}","name":"any"}]}`),
  'resources/read': (id, m) => raw(id, `{"contents":[{"uri":${JSON.stringify(m.params.uri)},"text":"read 1.50"}],"_meta":{"n":1.50}}`),
  'resources/subscribe': (id) => answer(id, {}),
  'resources/unsubscribe': (id) => answer(id, {}),
  'prompts/list': (id) => raw(id, '{"prompts":[{"name":"p","description":"a prompt","arguments":[{"name":"x"}]}]}'),
  'prompts/get': (id, m) => answer(id, { messages: [{ role: 'user', content: { type: 'text', text: `${m.params.name} ${m.params.arguments?.x}` } }] }),
  'completion/complete': (id, m) => answer(id, { completion: { values: [`${m.params.argument.value}!`], hasMore: false } }),
  'tasks/result': (id, m) => later(300, () => answer(id, text(`result of ${m.params.taskId}`))),
  'tasks/cancel': (id) => answer(id, {}),
  'tools/call': (id, m, line) => {
    const tool = tools[m.params.name];
    if (tool) tool(id, m.params.arguments ?? {}, m, line);
    else send({ id, error: { code: -32602, message: 'no such tool' } });
  },
};

function take(line) {
  log(line);
  const m = JSON.parse(line);
  if (m.method === undefined) {
    asked.get(m.id)?.(m);
    asked.delete(m.id);
  } else if (m.id === undefined) {
    if (m.method === 'notifications/cancelled') cancelled.add(m.params.requestId);
  } else if (methods[m.method]) {
    methods[m.method](m.id, m, line);
  } else {
    send({ id: m.id, error: { code: -32601, message: 'no such method' } });
  }
}

if (process.argv[1]?.endsWith('stdio-server.mjs')) {
  let rest = '';
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (d) => {
    rest += d;
    const all = rest.split('\n');
    rest = all.pop();
    for (const line of all) take(line);
  });
  process.stdin.on('end', () => process.exit(0));
}
