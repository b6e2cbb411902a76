import { readFile } from 'node:fs/promises';
import { FAULT_MESSAGES } from '@beckon/contract';
import { Ajv2020 } from 'ajv/dist/2020.js';
import Fastify from 'fastify';
import { afterAll, expect, test } from 'vitest';
import { isEmail } from '../../../platform/records/email.ts';
import { INGEST_ENDPOINTS } from '../api/endpoints.ts';
import { buildDocument } from './document.ts';
import { mountReference } from './routes.ts';
import type { OpenApiDocument, Operation } from './openapi.ts';
import { renderPage } from './page.ts';

const options = { publicUrl: 'https://beckon.example', version: '1.2.3' };
const document = buildDocument(options);
const operations = Object.values(document.paths).map(({ post }) => post);
const app = Fastify();
mountReference(app, options);
afterAll(() => app.close());

const ajv = new Ajv2020({
  strict: true,
  formats: { email: isEmail, 'date-time': (text: string) => !Number.isNaN(Date.parse(text)) },
});
ajv.addVocabulary(['components']);
// The components refer to each other by references into the document, so Ajv gets the document.
ajv.addSchema({ $id: 'beckon', components: document.components }, undefined, undefined, false);

function misfits($ref: string, value: unknown): unknown {
  const fits = ajv.getSchema(`beckon${$ref}`);
  if (!fits) throw new Error(`no schema at ${$ref}`);
  return fits(value) ? null : fits.errors;
}

/** Returns every value under this key, at any depth. */
function valuesOf(node: unknown, key: string): unknown[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) => [
    ...(name === key ? [value] : []),
    ...valuesOf(value, key),
  ]);
}

function lookUp(pointer: string): unknown {
  return pointer
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], document);
}

function bodies(operation: Operation) {
  return [operation.requestBody, ...Object.values(operation.responses)].map(
    ({ content }) => content['application/json'],
  );
}

test('the document has every endpoint under its path and name, and no other', () => {
  expect(Object.keys(document.paths).toSorted()).toEqual(INGEST_ENDPOINTS.map(({ path }) => path).toSorted());
  for (const { path, kind } of INGEST_ENDPOINTS) {
    expect(Object.keys(document.paths[path] ?? {})).toEqual(['post']);
    const statuses = Object.keys(document.paths[path]?.post.responses ?? {});
    expect(statuses).toContain(kind === 'bulk' ? '200' : '202');
    for (const status of ['400', '401', '403', '413', '415', '422', '429', '500', '503']) {
      expect(statuses).toContain(status);
    }
  }
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test('every reference resolves', () => {
  const refs = valuesOf(document, '$ref');
  expect(refs.length).toBeGreaterThan(100);
  for (const ref of refs) expect(lookUp(String(ref)), String(ref)).toBeDefined();
});

test('every schema is a JSON Schema of 2020-12, and every component is used', () => {
  const used = new Set(valuesOf(document, '$ref'));
  for (const title of Object.keys(document.components.schemas)) {
    expect(ajv.getSchema(`beckon#/components/schemas/${title}`), title).toBeDefined();
    expect(used, title).toContain(`#/components/schemas/${title}`);
  }
  for (const name of Object.keys(document.components.headers)) {
    expect(used, name).toContain(`#/components/headers/${name}`);
  }
});

test('every example fits its schema', () => {
  for (const { schema, examples } of operations.flatMap(bodies)) {
    expect(Object.keys(examples).length).toBeGreaterThan(0);
    for (const { value } of Object.values(examples)) expect(misfits(schema.$ref, value)).toBeNull();
  }
  const { parameters, headers } = document.components;
  for (const [kind, all] of Object.entries({ parameters, headers })) {
    for (const [name, { example }] of Object.entries(all)) {
      expect(misfits(`#/components/${kind}/${name}/schema`, example), name).toBeNull();
    }
  }
});

test('every fault code of the catalog is explained in the document, on the page and in docs/reference/errors.md', async () => {
  const codes = Object.keys(FAULT_MESSAGES);
  expect(document['x-faults'].map(({ code }) => code)).toEqual(codes);
  const page = renderPage(document);
  const errors = await readFile(
    new URL('../../../../../../docs/reference/errors.md', import.meta.url),
    'utf8',
  );
  for (const { code, statuses, message } of document['x-faults']) {
    expect(page).toContain(`id="error-${code}"`);
    expect(errors).toContain(`\n## ${code}\n`);
    const section = errors.split(`\n## ${code}\n`)[1]?.split('\n## ')[0];
    for (const status of statuses) expect(section, code).toContain(String(status));
    expect(section?.includes(message), code).toBe(true);
  }
});

function responsesOf(path: string) {
  const responses = document.paths[path]?.post.responses ?? {};
  return {
    codes: (status: string) => Object.keys(responses[status]?.content['application/json'].examples ?? {}),
    headers: (status: string) => Object.keys(responses[status]?.headers ?? {}),
    statuses: Object.keys(responses),
  };
}

test('every code of an endpoint is listed under its status, and backfill_queue_full for bulk alone', () => {
  for (const { path, kind } of INGEST_ENDPOINTS) {
    const { codes } = responsesOf(path);
    expect(codes(kind === 'bulk' ? '400' : '422')).toContain('validation_failed');
    expect(codes('422')).toContain('idempotency_key_reuse');
    const tooMany = kind === 'bulk' ? ['rate_limited', 'backfill_queue_full'] : ['rate_limited'];
    expect(codes('429')).toEqual(tooMany);
  }
});

test('every response lists its headers: 401 never has Retry-After, 429 and 503 always do', () => {
  for (const { path } of INGEST_ENDPOINTS) {
    const { headers, statuses } = responsesOf(path);
    for (const status of statuses) expect(headers(status)).toContain('X-Request-Id');
    expect(headers('401')).toContain('WWW-Authenticate');
    expect(headers('401')).not.toContain('Retry-After');
    for (const status of ['429', '503']) expect(headers(status)).toContain('Retry-After');
  }
});

test('the document describes a redirect to https only if the public address is https', () => {
  const statuses = (publicUrl: string) =>
    Object.keys(buildDocument({ publicUrl, version: '1' }).paths['/api/v1/users']?.post.responses ?? {});
  expect(statuses('https://beckon.example')).toContain('308');
  expect(statuses('http://localhost:8080')).not.toContain('308');
});

test('the document is served as JSON, and names this server', async () => {
  const response = await app.inject('/openapi.json');
  expect(response.statusCode).toBe(200);
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(response.json<OpenApiDocument>()).toEqual(JSON.parse(JSON.stringify(document)));
  expect(document.servers[0]?.url).toBe('https://beckon.example');
});

test('the page loads one style sheet of this server, and runs nothing', async () => {
  const response = await app.inject('/docs');
  expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(response.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self';/);
  const page = response.body;
  expect(page).not.toMatch(/<script|<img|<iframe|<form|<style|javascript:|\son\w+=|\sstyle=|\ssrc=|url\(/i);
  const links = [...page.matchAll(/\shref="([^"]*)"/g)].map(([, target]) => target ?? '');
  const outside = links.filter((target) => !target.startsWith('#'));
  expect(new Set(outside)).toEqual(new Set(['/docs/style.css', '/openapi.json']));
  const ids = new Set([...page.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => `#${id}`));
  for (const target of links.filter((link) => link.startsWith('#'))) expect(ids, target).toContain(target);
});

test('the style sheet loads nothing either', async () => {
  const response = await app.inject('/docs/style.css');
  expect(response.headers['content-type']).toBe('text/css; charset=utf-8');
  expect(response.body).not.toMatch(/url\(|@import|@font-face/i);
  expect(response.body).toContain('prefers-color-scheme: dark');
});

test('ids are unique, and headings skip no level', () => {
  const page = renderPage(document);
  const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  const levels = [...page.matchAll(/<h(\d)/g)].map(([, level]) => Number(level));
  expect(levels.filter((level) => level === 1)).toHaveLength(1);
  for (const [i, level] of levels.entries()) expect(level).toBeLessThanOrEqual((levels[i - 1] ?? 0) + 1);
});

test('curl examples have the real address, and are quoted for a shell', () => {
  const hostile = buildDocument({ publicUrl: "http://localhost:8080/x'$(reboot)", version: '1' });
  const sources = Object.values(hostile.paths).map(({ post }) => post['x-codeSamples'][0]?.source ?? '');
  for (const source of sources)
    expect(source).toContain(`curl 'http://localhost:8080/x'\\''$(reboot)/api/v1/`);
  expect(document.paths['/api/v1/events']?.post['x-codeSamples'][0]?.source).toMatch(
    /^curl https:\/\/beckon\.example\/api\/v1\/events /,
  );
});

test('external text stays text on the page', () => {
  const hostile = '"><script>alert(1)</script>\'&';
  const all = structuredClone(buildDocument({ publicUrl: `http://x/${hostile}`, version: hostile }));
  all.info.title = hostile;
  all.info.description = `${hostile}\n\n## ${hostile}\n\n- ${hostile} \`${hostile}\``;
  const post = all.paths['/api/v1/events']?.post as Operation;
  post.summary = hostile;
  post.description = hostile;
  post.requestBody.description = hostile;
  for (const { content } of Object.values(post.responses)) {
    content['application/json'].examples = { [hostile]: { summary: hostile, value: { [hostile]: hostile } } };
  }
  all.components.schemas['User'] = { properties: { [hostile]: { type: hostile, description: hostile } } };
  all['x-faults'] = all['x-faults'].map((fault) => ({
    ...fault,
    message: hostile,
    when: hostile,
    remedy: hostile,
  }));
  all['x-limits'] = [{ name: hostile, value: hostile }];
  const page = renderPage(all);
  expect(page).not.toMatch(/<script/i);
  expect(page).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;');
});
