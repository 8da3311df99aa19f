// SPDX-License-Identifier: GPL-2.0
// Usage: node page.mjs VIEWERS FILE PICTURE
//
// Opens a page of `ferrotrace html` in Chromium as a file, in the size of a small laptop. Fails if
// the page writes an error to the console, or requests anything else; if a click on the head of a
// column does not sort its table; if a click on a frame of a flame graph does not enlarge it; if it
// is not dark for users who prefer this; or if it shows less without JavaScript. Saves a picture.

import assert from 'node:assert/strict';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [viewers, file, picture] = process.argv.slice(2);
const { chromium } = await import(path.join(viewers, 'playwright-core/index.mjs'));
const address = pathToFileURL(path.resolve(file)).href;
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
const errors = [];

async function open(options) {
  const page = await browser.newPage({ viewport: { width: 1366, height: 768 }, ...options });
  page.on('pageerror', (error) => errors.push(`error: ${error.message}`));
  page.on('console', (message) => errors.push(`console: ${message.text()}`));
  page.on('dialog', (dialog) => errors.push(`dialog: ${dialog.message()}`));
  page.on('request', (request) => {
    if (request.url() !== address) errors.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  return page;
}

// The numbers in a column, or its texts.
function column(page, table, head) {
  return page.evaluate(([table, head]) => {
    const element = document.querySelector(`table[data-table=${table}]`);
    const heads = [...element.tHead.rows[0].cells].map((cell) => cell.textContent);
    const cells = [...element.tBodies[0].rows].map((row) => row.cells[heads.indexOf(head)]);
    return cells.map((cell) => (cell.dataset.v ? Number(cell.dataset.v) : cell.textContent));
  }, [table, head]);
}

async function checkSorting(page, table, head, order) {
  const before = await column(page, table, head);
  const button = page.locator(`table[data-table=${table}] th button`).getByText(head, { exact: true });
  const sorted = [...before].sort(typeof before[0] === 'number' ? (a, b) => a - b
    : (a, b) => a.localeCompare(b));
  assert.ok(new Set(before).size > 1, `${table}, ${head}: the rows are all equal`);
  for (const expected of order) {
    await button.click();
    const rows = expected === 'ascending' ? sorted : [...sorted].reverse();
    assert.deepEqual(await column(page, table, head), rows, `${table} by ${head}, ${expected}`);
    const state = await page.locator(`table[data-table=${table}] th[aria-sort]`);
    assert.equal(await state.count(), 1);
    assert.equal(await state.getAttribute('aria-sort'), expected);
  }
}

// The numbers of rows and of charts that can be seen.
async function shown(page) {
  const rows = await page.locator('tr:visible').count();
  const charts = await page.locator('svg:visible, iframe:visible').count();
  return { rows, charts };
}

try {
  const page = await open({});
  await page.screenshot({ path: picture });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 1366, `the page is ${width} pixels wide`);
  await checkSorting(page, 'functions', 'calls', ['descending', 'ascending']);
  await checkSorting(page, 'tasks', 'run ms', ['descending', 'ascending']);
  await checkSorting(page, 'tasks', 'task', ['ascending', 'descending']);
  await checkSorting(page, 'longest', 'total ms', ['descending']);

  const frame = page.frameLocator('iframe').first();
  const narrow = frame.locator('#frames g', { hasText: 'do_wait' }).first().locator('rect');
  const before = await narrow.boundingBox();
  await narrow.click();
  const after = await narrow.boundingBox();
  assert.ok(after.width > 1.2 * before.width, `${before.width} to ${after.width} pixels`);

  // Frames must follow the size of the page.
  for (const width of [1000, 800, 1200, 1366]) {
    await page.screenshot({ fullPage: true });
    await page.setViewportSize({ width, height: 768 });
  }

  const plain = await open({ javaScriptEnabled: false });
  assert.equal(await plain.locator('th button').count(), 0);
  const dark = await open({ colorScheme: 'dark' });
  const [light, black] = await Promise.all([page, dark].map((page) =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor)));
  assert.notEqual(light, black, 'the page is not dark if the user prefers this');
  const { rows, charts } = await shown(dark);
  assert.ok(charts > 10 && rows > 50, `${rows} rows, ${charts} charts`);
  assert.deepEqual(await shown(plain), { rows, charts }, 'without JavaScript');
} catch (error) {
  errors.push(error.message);
}
await browser.close();
for (const error of errors) console.error(error);
process.exit(errors.length === 0 ? 0 : 1);
