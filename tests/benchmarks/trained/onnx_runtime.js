// SPDX-License-Identifier: MIT
//
// node onnx_runtime.js MODEL SIZES INPUT.f32 SESSIONS THREADS: the peer's side of trained_bench.py,
// in the folder that `npm install` filled. It obeys the lines that bench_trained obeys, and replies
// likewise; `profile` has [name, operator, seconds] of each node. Runs of one session follow each
// other, on the thread that asks for them, so each further session has a thread of its own.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const readline = require('readline');
const workers = require('worker_threads');
const ort = require(path.join(process.cwd(), 'node_modules', 'onnxruntime-node'));

const now = () => Number(process.hrtime.bigint()) * 1e-9;

// The processor's time of the process.
const processorSeconds = () => {
  const {user, system} = process.cpuUsage();
  return (user + system) * 1e-6;
};

class Session {
  static async open(settings, more = {}) {
    const [model, sizes, input, , threads] = settings;
    const session = new Session();
    session.runtime = await ort.InferenceSession.create(model, {
      executionProviders: ['cpu'],
      graphOptimizationLevel: 'all',
      interOpNumThreads: 1,
      intraOpNumThreads: Number(threads),
      ...more,
    });
    const dims = sizes.split('x').map(Number);
    const count = dims.reduce((a, b) => a * b, 1);
    const bytes = fs.readFileSync(input);
    const values = new Float32Array(bytes.buffer, bytes.byteOffset, count).slice();
    const name = session.runtime.inputNames[0];
    session.feeds = {[name]: new ort.Tensor('float32', values, dims)};
    await session.run();
    return session;
  }

  run() { return this.runtime.run(this.feeds); }
}

// A session in a thread of its own, which runs for each message.
class Remote {
  static async open(settings) {
    const remote = new Remote();
    remote.waiting = [];
    remote.worker = new workers.Worker(__filename, {argv: settings, workerData: 'session'});
    remote.worker.on('error', (error) => { throw error; });
    const opened = new Promise((resolve) => remote.waiting.push(resolve));
    remote.worker.on('message', () => remote.waiting.shift()());
    await opened;
    return remote;
  }

  run() {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.worker.postMessage('run');
    });
  }
}

async function serveInWorker() {
  const session = await Session.open(process.argv.slice(2));
  let last = Promise.resolve();
  workers.parentPort.on('message', () => {
    last = last.then(() => session.run()).then(() => workers.parentPort.postMessage('done'));
  });
  workers.parentPort.postMessage('open');
}

class Server {
  constructor(settings, sessions) { Object.assign(this, {settings, sessions}); }

  ready() { return {outputs: this.sessions[0].runtime.outputNames}; }

  async output() {
    const results = await this.sessions[0].run();
    return {values: Array.from(results[this.sessions[0].runtime.outputNames[0]].data)};
  }

  async run(count) {
    const seconds = [];
    const before = processorSeconds();
    for (let i = 0; i < count; ++i) {
      const start = now();
      await this.sessions[0].run();
      seconds.push(now() - start);
    }
    return {seconds, processor: (processorSeconds() - before) / count};
  }

  async serve(count, inFlight) {
    const latencies = [];
    let begun = 0;
    const flow = async (session) => {
      while (begun < count) {
        ++begun;
        const start = now();
        await session.run();
        latencies.push(now() - start);
      }
    };
    const start = now();
    const flows = [];
    for (let i = 0; i < inFlight; ++i) flows.push(flow(this.served[i % this.served.length]));
    await Promise.all(flows);
    return {seconds: now() - start, latencies};
  }

  async profile(count) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'nvdla-profile-'));
    try {
      const session = await Session.open(
          this.settings, {enableProfiling: true, profileFilePrefix: path.join(folder, 'run')});
      let seconds = Infinity;
      const before = processorSeconds();
      for (let i = 0; i < count; ++i) {
        const start = now();
        await session.run();
        seconds = Math.min(seconds, now() - start);
      }
      const processor = (processorSeconds() - before) / count;
      session.runtime.endProfiling();
      const events = JSON.parse(fs.readFileSync(path.join(folder, fs.readdirSync(folder)[0])));
      const ending = '_kernel_time';
      const nodes = new Map();
      for (const {cat, name, dur, args} of events) {
        if (cat !== 'Node' || !name.endsWith(ending)) continue;
        const node = name.slice(0, -ending.length);
        if (!nodes.has(node)) nodes.set(node, [node, args.op_name, []]);
        nodes.get(node)[2].push(dur);
      }
      // The first run was that of open().
      const layers = [...nodes.values()].map(
          ([node, operator, times]) => [node, operator, Math.min(...times.slice(1)) * 1e-6]);
      return {seconds, processor, layers};
    } finally {
      fs.rmSync(folder, {recursive: true});
    }
  }
}

async function main() {
  const settings = process.argv.slice(2);
  const sessions = Number(settings[3]);
  const server = new Server(settings, [await Session.open(settings)]);
  server.served = server.sessions;
  if (sessions > 1) {
    server.served = [];
    for (let i = 0; i < sessions; ++i) server.served.push(await Remote.open(settings));
  }
  const reply = (value) => process.stdout.write(JSON.stringify(value) + '\n');
  reply(server.ready());
  for await (const line of readline.createInterface({input: process.stdin})) {
    const [verb, ...numbers] = line.split(' ');
    if (!['output', 'run', 'serve', 'profile'].includes(verb)) throw Error(`no command '${line}'`);
    reply(await server[verb](...numbers.map(Number)));
  }
  process.exit(0);
}

(workers.workerData === 'session' ? serveInWorker() : main()).catch((error) => {
  console.error(error);
  process.exit(1);
});
