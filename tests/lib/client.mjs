// client.mjs - a scripted MCP client of the handshake dialect: it can do anything a good or a bad
// client may do. Every message it receives is checked against the official schema when that is
// at hand (schema.mjs).
import http from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { checkMessage } from './schema.mjs';
import { ran } from './time.mjs';

// One HTTP exchange; the body is a Buffer. options: { method, headers, body, agent, signal }.
export function exchange(url, { method = 'POST', headers = {}, body, onChunk, agent, signal } = {}) {
  return new Promise((resolve, reject) => {
    // A Content-Length of our own: without one Node would send the body chunked.
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const r = http.request(url, { method, headers: { ...headers, ...length }, agent, signal }, (res) => {
      const parts = [];
      res.on('data', (d) => {
        parts.push(d);
        onChunk?.(d, res);
      });
      res.on('end', () => resolve({ status: res.statusCode, headers: res.headers, body: Buffer.concat(parts) }));
      res.on('error', reject);
      res.on('aborted', () => reject(new Error('connection cut')));
    });
    r.on('error', reject);
    if (body !== undefined) r.write(body);
    r.end();
  });
}

// The message of an answer, as its bytes: the body, or the last event of a stream, for one that lasts.
export function messageIn(text) {
  return text.startsWith('{') ? text : text.trimEnd().split('\n').at(-1).replace(/^data: ?/, '');
}

// Events of an SSE text: { id, event, data, retry, comment }.
export class SseReader {
  constructor(onEvent) {
    this.onEvent = onEvent;
    this.decoder = new StringDecoder('utf8');
    this.pieces = []; // of what has not ended yet: put together once a line of it ends
  }

  feed(chunk) {
    const piece = this.decoder.write(chunk);
    this.pieces.push(piece);
    if (!piece.includes('\n')) return;
    let rest = this.pieces.join('');
    for (;;) {
      const at = rest.indexOf('\n\n');
      if (at < 0) {
        this.pieces = [rest];
        return;
      }
      const block = rest.slice(0, at);
      rest = rest.slice(at + 2);
      const e = { data: [] };
      for (const line of block.split('\n')) {
        if (line.startsWith(':')) e.comment = line.slice(1);
        else if (line.startsWith('data:')) e.data.push(line.slice(5).replace(/^ /, ''));
        else if (line.startsWith('id:')) e.id = line.slice(3).trim();
        else if (line.startsWith('event:')) e.event = line.slice(6).trim();
        else if (line.startsWith('retry:')) e.retry = Number(line.slice(6));
      }
      e.data = e.data.length ? e.data.join('\n') : undefined;
      this.onEvent(e);
    }
  }
}

export class RpcError extends Error {
  constructor(error, status) {
    super(`${error.code}: ${error.message}`);
    this.code = error.code;
    this.data = error.data;
    this.rpc = error;
    this.status = status;
  }
}

export class Client {
  constructor(url, { key, version = '2025-11-25', capabilities = {}, accept, headers = {} } = {}) {
    this.url = url;
    this.key = key;
    this.version = version;
    this.capabilities = capabilities;
    this.accept = accept ?? 'application/json, text/event-stream';
    this.extra = headers;
    this.nextId = 1;
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 2000 });
    this.streams = [];
  }

  at(broker) { // the same session at another broker
    const c = Object.create(this);
    c.url = broker.url;
    return c;
  }

  headers(more = {}) {
    const h = { 'content-type': 'application/json', accept: this.accept, ...this.extra };
    if (this.key) h.authorization = `Bearer ${this.key}`;
    if (this.session) {
      h['mcp-session-id'] = this.session;
      h['mcp-protocol-version'] = this.negotiated ?? this.version;
    }
    for (const [k, v] of Object.entries(more)) {
      if (v === undefined) delete h[k];
      else h[k] = v;
    }
    return h;
  }

  // Sends raw bytes; resolves to { status, headers, body, text, messages, events, ms }.
  async post(body, { headers = {}, onMessage, signal, method: verb } = {}) {
    const messages = [];
    const events = [];
    const method = methodOf(body);
    const began = Date.now();
    const take = (text) => {
      const m = JSON.parse(text);
      checkMessage(m, method);
      messages.push(m);
      onMessage?.(m);
    };
    const reader = new SseReader((e) => {
      events.push(e);
      if (e.data) take(e.data);
    });
    const res = await exchange(this.url, {
      headers: this.headers(headers),
      method: verb,
      body,
      agent: this.agent,
      signal,
      onChunk: (d, r) => {
        if ((r.headers['content-type'] ?? '').startsWith('text/event-stream')) reader.feed(d);
      },
    });
    const text = res.body.toString('utf8');
    if ((res.headers['content-type'] ?? '').startsWith('application/json') && text) take(text);
    return { ...res, text, messages, events, ms: ran(began) };
  }

  // A request; resolves to the response message, whatever it is, plus { http }.
  async request(method, params, options = {}) {
    const id = options.id ?? this.nextId++;
    const res = await this.post(JSON.stringify({ jsonrpc: '2.0', id, method, params }), options);
    const answer = res.messages.find((m) => m.id !== undefined && !m.method) ?? res.messages.find((m) => m.error);
    return { ...answer, http: res };
  }

  // The result of a request; throws RpcError for an error.
  async result(method, params, options = {}) {
    const a = await this.request(method, params, options);
    if (a.error) throw new RpcError(a.error, a.http.status);
    if (!a.result) throw new Error(`${method}: no answer (HTTP ${a.http.status} ${a.http.text})`);
    return a.result;
  }

  notify(method, params, options = {}) {
    return this.post(JSON.stringify({ jsonrpc: '2.0', method, params }), options);
  }

  async initialize(options = {}) {
    const a = await this.request('initialize', {
      protocolVersion: this.version,
      capabilities: this.capabilities,
      clientInfo: { name: 'scripted', version: '1' },
    }, options);
    if (a.error) throw new RpcError(a.error, a.http.status);
    this.session = a.http.headers['mcp-session-id'];
    this.negotiated = a.result.protocolVersion;
    this.server = a.result;
    await this.notify('notifications/initialized');
    return a.result;
  }

  // Creates a task; resolves to the Task.
  async createTask(name, args = {}, { ttl, meta, ...options } = {}) {
    const params = { name, arguments: args, task: ttl === undefined ? {} : { ttl } };
    if (meta) params._meta = meta;
    return (await this.result('tools/call', params, options)).task;
  }

  callTool(name, args = {}, options = {}) {
    return this.result('tools/call', { name, arguments: args, ...(options.meta ? { _meta: options.meta } : {}) }, options);
  }

  getTask(taskId) {
    return this.result('tasks/get', { taskId });
  }

  // Opens the GET stream; events arrive in stream.events, messages in stream.messages. A new one is
  // open when it is primed: its head goes out before Redis, and so another broker, knows of it. One
  // that Redis cannot be told of is open after a second.
  openStream({ headers = {} } = {}) {
    const stream = { events: [], messages: [], closed: false };
    stream.opened = new Promise((resolve, reject) => {
      const h = this.headers(headers);
      delete h['content-type'];
      stream.request = http.request(this.url, { method: 'GET', headers: h }, (res) => {
        stream.status = res.statusCode;
        stream.headers = res.headers;
        const reader = new SseReader((e) => {
          stream.events.push(e);
          resolve(stream);
          if (!e.data) return;
          const m = JSON.parse(e.data);
          checkMessage(m);
          stream.messages.push(m);
        });
        const late = setTimeout(resolve, 1000, stream);
        res.on('data', (d) => reader.feed(d));
        res.on('close', () => {
          stream.closed = true;
          clearTimeout(late);
          resolve(stream);
        });
        res.on('error', (e) => { stream.cut = e; }); // no clean end
        if (res.statusCode !== 200 || h['last-event-id']) resolve(stream);
      });
      stream.request.on('error', (e) => {
        stream.closed = true;
        reject(e);
      });
      stream.request.end();
    });
    stream.opened.catch(() => {});
    stream.close = () => stream.request.destroy();
    this.streams.push(stream);
    return stream.opened;
  }

  delete(options = {}) {
    return this.post(undefined, { ...options, method: 'DELETE' });
  }

  close() {
    for (const s of this.streams) s.close();
    this.agent.destroy();
  }
}

function methodOf(body) {
  try {
    return JSON.parse(body).method;
  } catch {
    return undefined;
  }
}
