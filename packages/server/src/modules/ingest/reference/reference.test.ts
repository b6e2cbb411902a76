import { readFile } from 'node:fs/promises';
import { FAULT_MESSAGES } from '@beckon/contract';
import { Ajv2020 } from 'ajv/dist/2020.js';
import Fastify from 'fastify';
import { afterAll, describe, expect, test } from 'vitest';
import { isEmail } from '../../../platform/records/email.ts';
import { INGEST_ENDPOINTS } from '../api/endpoints.ts';
import { buildDocument } from './document.ts';
import { mountReference } from './routes.ts';
import type { JsonSchema, OpenApiDocument, Operation } from './openapi.ts';

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

test('every fault code of the catalog is explained in the document and in docs/reference/errors.md', async () => {
  const codes = Object.keys(FAULT_MESSAGES);
  expect(document['x-faults'].map(({ code }) => code)).toEqual(codes);
  const errors = await guidePage('errors');
  for (const { code, statuses, message } of document['x-faults']) {
    const section = sectionOf(errors, `## ${code}`);
    for (const status of statuses) expect(section, code).toContain(String(status));
    expect(section, code).toContain(message);
  }
});

describe('docs/reference/api.md', async () => {
  const page = await guidePage('api');

  test.each(Object.entries(document.paths))('has the command and every field of %s', (path, { post }) => {
    const section = sectionOf(page, `### ${post.summary}`);
    expect(section).toContain(`\`POST ${path}\`\n\n${post.description}\n`);
    expect(section).toContain(`curl http://localhost:8080${path} `);
    const { properties = {}, required } = schemaOf(post);
    for (const [name, { description = '' }] of Object.entries(properties)) {
      const row = rowsOf(section, `\`${name}\``)[0];
      expect(row, name).toContain(required?.includes(name) ? ', required | ' : ', optional | ');
      expect(row).toContain(description);
    }
  });

  test.each(Object.entries(document.paths))('has every status and error code of %s', (_path, { post }) => {
    const section = sectionOf(page, `### ${post.summary}`);
    const shared = sectionOf(page, '### Errors of every endpoint');
    for (const [status, { content }] of Object.entries(post.responses)) {
      const rows = [...rowsOf(section, status), ...rowsOf(shared, status)];
      expect(rows, status).toHaveLength(1);
      const { examples } = content['application/json'];
      const codes = status.startsWith('2') ? [] : Object.keys(examples);
      for (const code of codes) expect(rows[0]).toContain(`](errors.md#${code})`);
    }
  });

  test.each(Object.entries(document.paths))('has the examples of %s', (_path, { post }) => {
    const blocks = jsonIn(sectionOf(page, `### ${post.summary}`));
    for (const [status, { content }] of Object.entries(post.responses)) {
      const examples = Object.entries(content['application/json'].examples);
      const expected = examples.filter(([name]) => status.startsWith('2') || name === 'validation_failed');
      for (const [name, { value }] of expected) expect(blocks, `${status} ${name}`).toContainEqual(value);
    }
  });

  test('has every header, limit, rate limit and canonical event', () => {
    const { parameters, headers } = document.components;
    const request = sectionOf(page, '### Request headers');
    for (const name of [
      'Authorization',
      'Content-Type',
      ...Object.values(parameters).map((each) => each.name),
    ])
      expect(rowsOf(request, `\`${name}\``), name).toHaveLength(1);
    const response = sectionOf(page, '### Response headers');
    for (const [name, { description, example }] of Object.entries(headers))
      expect(rowsOf(response, `\`${name}\``)).toEqual([
        `| \`${name}\` | ${description} Example: \`${example}\` |`,
      ]);
    const limits = sectionOf(page, '## Limits');
    for (const { name, value } of document['x-limits']) expect(limits).toContain(`| ${name} | ${value} |`);
    for (const { path } of document['x-rate-limits'])
      expect(rowsOf(limits, `\`POST ${path}\``)).toHaveLength(1);
    for (const name of Object.keys(document['x-canonical-events']))
      expect(rowsOf(sectionOf(page, '## Canonical events'), `\`${name}\``), name).toHaveLength(1);
  });
});

function guidePage(name: string): Promise<string> {
  return readFile(new URL(`../../../../../../docs/reference/${name}.md`, import.meta.url), 'utf8');
}

/** Returns the text below a heading, up to the next heading of the same or a higher level. */
function sectionOf(page: string, heading: string): string {
  const [, text] = page.split(`\n${heading}\n`);
  if (text === undefined) throw new Error(`no heading ${heading}`);
  const level = heading.indexOf(' ');
  return text.split(new RegExp(`\n#{1,${level}} `))[0] ?? '';
}

/** Returns the rows of tables that begin with this cell. */
function rowsOf(section: string, cell: string): string[] {
  return section.split('\n').filter((line) => line.startsWith(`| ${cell} |`));
}

function jsonIn(section: string): unknown[] {
  return [...section.matchAll(/```json\n([^]*?)```/g)].map(([, text = '']): unknown => JSON.parse(text));
}

function schemaOf({ requestBody }: Operation): JsonSchema {
  return lookUp(requestBody.content['application/json'].schema.$ref) as JsonSchema;
}

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

test('curl examples have the real address, and are quoted for a shell', () => {
  const hostile = buildDocument({ publicUrl: "http://localhost:8080/x'$(reboot)", version: '1' });
  const sources = Object.values(hostile.paths).map(({ post }) => post['x-codeSamples'][0]?.source ?? '');
  for (const source of sources)
    expect(source).toContain(`curl 'http://localhost:8080/x'\\''$(reboot)/api/v1/`);
  expect(document.paths['/api/v1/events']?.post['x-codeSamples'][0]?.source).toMatch(
    /^curl https:\/\/beckon\.example\/api\/v1\/events /,
  );
});
