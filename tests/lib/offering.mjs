// offering.mjs - a worker that wraps one MCP server, scripted: it speaks to Redis as docs/store.md says,
// and answers jobs with whatever bytes a test likes.
const keysOf = (tool) => [0, 1, 2, 3].map((c) => `rq:${tool}:${c}`);

export class Offering {
  // offers: the definition; capabilities: as the server declared them.
  constructor(db, server, { prefix = '', capabilities = {}, offers = {}, wid = 'scripted', started = Date.now(), attempts = 3 } = {}) {
    Object.assign(this, { db, server, prefix, capabilities, wid, started, attempts, job: `@${server}`, pool: `p-${server}`, jobs: [], wanted: [], answers: new Map() });
    this.offers = offers;
  }

  async fn(partition, name, keys, ...args) {
    if (!this.version) {
      const [library] = await this.db.call('FUNCTION', 'LIST');
      this.version = library[1];
    }
    const T = `errand:{${partition}}:`;
    return this.db.call('FCALL', `${this.version}_${name}`, keys.length, ...keys.map((k) => T + k), T, ...args);
  }

  async announce(offers = this.offers) {
    this.offers = offers;
    const policy = { prefix: this.prefix, timeout: 60000, attempts: this.attempts, capabilities: this.capabilities };
    const definition = typeof offers === 'string' ? offers : JSON.stringify(offers);
    await this.fn('0', 'serve', [`pl:${this.job}`], this.pool, this.job);
    const [, wanted] = await this.fn('g', 'announce', ['tools', 'seen', 'tv', 'ws', `w:${this.wid}`, `wn:${this.server}`],
      this.wid, this.pool, '{}', this.started, this.job, `${definition.length}-${Date.now()}`, JSON.stringify(policy), definition);
    this.wanted = [];
    for (let i = 0; i < wanted.length; i += 2) this.wanted.push(wanted[i + 1]);
    return this.wanted;
  }

  // From now on jobs are taken; answer(method, params, job) gives the bytes of a result, or throws
  // { rpc: error }; undefined: the job is left running.
  serve(answer) {
    const step = async () => {
      if (this.stopped || this.db.closed) return;
      for (const job of await this.take()) this.run(job, answer);
      this.timer = setTimeout(() => step().catch(() => {}), 15);
    };
    step().catch(() => {});
  }

  async take() {
    const rows = await this.fn('0', 'claim', ['ls', `il:${this.pool}`, `lc:${this.wid}`, ...keysOf(this.job)], this.wid, this.pool, 8, 30000, 0, 0, 1, this.job);
    const jobs = rows.map(([id, fence, attempt, attempts, , , params, caller, trace, token]) =>
      ({ id, fence, attempt: Number(attempt), attempts: Number(attempts), params, caller, trace, token }));
    this.jobs.push(...jobs);
    return jobs;
  }

  async run(job, answer) {
    const { method, params } = JSON.parse(job.params);
    try {
      const result = await answer(method, params, job);
      if (result !== undefined) await this.finish(job, 'r', result);
    } catch (e) {
      if (!e.rpc) throw e;
      await this.finish(job, 'e', JSON.stringify(e.rpc));
    }
  }

  finish(job, state, outcome) {
    return this.fn('0', 'finish', ['ls', `il:${this.pool}`, 'st', 'dq', `lc:${this.wid}`, `t:${job.id}`, ...keysOf(this.job)],
      this.wid, this.pool, 0, 30000, 0, 0, 1, 1, this.job, job.id, job.fence, state, 0, '', outcome, 0);
  }

  // A question of a job; resolves to its answer once it is there.
  async ask(job, key, method, params) {
    for (;;) {
      const [verdict, answer] = await this.fn('0', 'ask', [`t:${job.id}`, 'ls'], job.id, job.fence, key, method, JSON.stringify(params), 0);
      if (verdict === 'ANSWERED') return JSON.parse(answer);
      if (verdict !== 'OK') throw new Error(`ask: ${verdict}`);
      await new Promise((r) => setTimeout(r, 20));
    }
  }

  report(job, progress, total) {
    const value = JSON.stringify({ progress, total });
    return this.fn('0', 'report', [`t:${job.id}`], job.id, job.fence, 0, '', 1, value, progress);
  }

  // The resource has changed, in an installation of one partition.
  async updated(uri) {
    await this.fn('0', 'watch_tell', [`wu:${uri}`], this.server, uri, 1, 0, uri);
    await this.db.call('PUBLISH', 'errand:all', `U ${this.server} ${uri}`);
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
  }
}
