import { readFileSync } from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOutbound } from './outbound.ts';
import { countRemoteImages, inlineImages } from './inline-images.ts';

const tls = (name: string) => readFileSync(new URL(`../../../testing/servers/tls/${name}`, import.meta.url));
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

const SIZES: Record<string, number> = { '/large.png': 3_000_000, '/photo.png': 100_000 };

const requests: string[] = [];
const server = https.createServer({ cert: tls('names.crt'), key: tls('names.key') }, (request, response) => {
  const url = request.url ?? '';
  requests.push(url);
  if (url === '/moved.png') return void response.writeHead(302, { location: '/cat.png' }).end();
  if (url === '/gone.png') return void response.writeHead(404).end();
  const type =
    url === '/page.png' ? 'text/html' : url === '/drawn.svg' ? 'image/svg+xml' : 'image/png; charset=x';
  return void response
    .writeHead(200, { 'content-type': type })
    .end(SIZES[url] === undefined ? PNG : Buffer.alloc(SIZES[url]));
});
const outbound = createOutbound({ allowPrivate: true, ca: tls('names.crt') });
let at = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  at = `https://localhost:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  outbound.close();
  await new Promise((resolve) => server.close(resolve));
});

test('inlines an image, and fetches it once however often it occurs', async () => {
  const html = `<img alt="a" src="${at}/cat.png?a=1&amp;b=2"><p><img src='${at}/cat.png?a=1&amp;b=2'></p>`;
  expect(countRemoteImages(html)).toBe(2);
  const inlined = await inlineImages(html, outbound);
  const data = `data:image/png;base64,${PNG.toString('base64')}`;
  expect(inlined).toBe(`<img alt="a" src="${data}"><p><img src="${data}"></p>`);
  expect(requests.filter((url) => url.startsWith('/cat'))).toEqual(['/cat.png?a=1&b=2']);
});

test('leaves the email unchanged for a URL that is no image, missing, redirected or too large', async () => {
  for (const path of ['page.png', 'drawn.svg', 'gone.png', 'moved.png', 'large.png']) {
    const html = `<img src="${at}/${path}">`;
    expect(await inlineImages(html, outbound)).toBe(html);
  }
});

test('fetches at most 20 images, and only over TLS', async () => {
  requests.length = 0;
  const plain = '<img src="http://localhost/x.png"><img src="cid:1">';
  expect(await inlineImages(plain, outbound)).toBe(plain);
  const many = Array.from({ length: 30 }, (_, i) => `<img src="${at}/${i}.png">`).join('');
  const inlined = await inlineImages(many, outbound);
  expect([requests.length, countRemoteImages(inlined)]).toEqual([20, 10]);
});

test('inlines repeated images while there is space, and each image at least once', async () => {
  const html = `${`<img src="${at}/photo.png">`.repeat(300)}<img src="${at}/cat.png">`;
  const inlined = await inlineImages(html, outbound);
  expect(inlined.length).toBeLessThan(6 * 1024 * 1024 + html.length);
  expect(inlined.match(/data:/g)?.length).toBeGreaterThan(40);
  expect(inlined.match(/https:/g)?.length).toBeGreaterThan(200);
  expect(inlined).toMatch(/<img src="data:[^"]{1,100}">$/);
});

test('scans a page of unfinished tags in linear time', () => {
  // In quadratic time, these would take minutes.
  for (const piece of ['<img ', '<img src ', ' src=', '<img src="https:'])
    expect(countRemoteImages(piece.repeat(200_000))).toBeLessThan(2);
});
