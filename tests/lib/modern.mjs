// modern.mjs - a scripted client of the stateless dialect, 2026-07-28.
import http from 'node:http';
import { exchange, RpcError, SseReader } from './client.mjs';
import { checkModern } from './schema.mjs';

export const TASKS = 'io.modelcontextprotocol/tasks';
const META = 'io.modelcontextprotocol/';

export class Modern {
  constructor(url, { key, capabilities = {}, tasks = false } = {}) {
    this.url = url;
    this.key = key;
    this.capabilities = tasks ? { ...capabilities, extensions: { [TASKS]: {} } } : capabilities;
    this.nextId = 1;
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 1000 });
    this.streams = [];
  }

  at(broker) {
    const c = Object.create(this);
    c.url = broker.url;
    return c;
  }

  meta(more = {}) {
    return {
      [`${META}protocolVersion`]: '2026-07-28',
      [`${META}clientCapabilities`]: this.capabilities,
      [`${META}clientInfo`]: { name: 'scripted', version: '1' },
      ...more,
    };
  }

  headers(method, params) {
    const h = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
    };
    const name = params?.taskId ?? params?.name ?? params?.uri;
    // What is no plain text of a header goes as base64.
    if (typeof name === 'string') h['mcp-name'] = /^[\x21-\x7e]*$/.test(name) ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`;
    if (this.key) h.authorization = `Bearer ${this.key}`;
    return h;
  }

  async request(method, params = {}, { id = this.nextId++, meta = {}, headers = {}, signal, onMessage, bare } = {}) {
    const messages = [];
    const events = [];
    const body = { jsonrpc: '2.0', id, method, params: bare ? params : { ...params, _meta: this.meta(meta) } };
    const h = this.headers(method, params);
    for (const [k, v] of Object.entries(headers)) {
      if (v === undefined) delete h[k];
      else h[k] = v;
    }
    const take = (text) => {
      const m = JSON.parse(text);
      checkModern(m, method);
      messages.push(m);
      onMessage?.(m);
    };
    const reader = new SseReader((e) => {
      events.push(e);
      if (e.data) take(e.data);
    });
    const res = await exchange(this.url, {
      headers: h,
      body: JSON.stringify(body),
      agent: this.agent,
      signal,
      onChunk: (d, r) => {
        if ((r.headers['content-type'] ?? '').startsWith('text/event-stream')) reader.feed(d);
      },
    });
    const text = res.body.toString('utf8');
    if ((res.headers['content-type'] ?? '').startsWith('application/json') && text) take(text);
    const answer = messages.find((m) => m.id !== undefined && !m.method) ?? messages.find((m) => m.error);
    return { ...answer, http: { ...res, text, messages, events } };
  }

  async result(method, params, options) {
    const a = await this.request(method, params, options);
    if (a.error) throw new RpcError(a.error, a.http.status);
    if (!a.result) throw new Error(`${method}: no answer (HTTP ${a.http.status} ${a.http.text})`);
    return a.result;
  }

  call(name, args = {}, options) {
    return this.result('tools/call', { name, arguments: args }, options);
  }

  get(taskId, options) {
    return this.result('tasks/get', { taskId }, options);
  }

  // Opens a subscription; resolves once it is acknowledged.
  listen(notifications, { id = this.nextId++ } = {}) {
    const stream = { messages: [], closed: false, id };
    const params = { notifications, _meta: this.meta() };
    stream.ready = new Promise((resolve, reject) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params });
      stream.request = http.request(this.url, {
        method: 'POST',
        headers: { ...this.headers('subscriptions/listen', params), 'content-length': Buffer.byteLength(body) },
      }, (res) => {
        stream.status = res.statusCode;
        if (res.statusCode !== 200) {
          res.resume();
          resolve(stream);
          return;
        }
        const reader = new SseReader((e) => {
          if (!e.data) return;
          const m = JSON.parse(e.data);
          checkModern(m, 'subscriptions/listen');
          stream.messages.push(m);
          resolve(stream);
        });
        res.on('data', (d) => reader.feed(d));
        res.on('close', () => { stream.closed = true; });
        res.on('error', () => {});
      });
      stream.request.on('error', reject);
      stream.request.end(body);
    });
    stream.ready.catch(() => {});
    stream.close = () => stream.request.destroy();
    this.streams.push(stream);
    return stream.ready;
  }

  close() {
    for (const s of this.streams) s.close();
    this.agent.destroy();
  }
}
