import { CANONICAL_EVENTS } from '@beckon/contract';
import { buildDocument } from '../../packages/server/src/modules/ingest/reference/document.ts';
import { GUIDE } from '../../packages/server/src/modules/ingest/reference/guide.ts';
import type { Operation } from '../../packages/server/src/modules/ingest/reference/openapi.ts';
import { tableOf } from './table.ts';

const DOCUMENT = buildDocument({ publicUrl: 'http://localhost:8080', version: '0' });

/** The introduction that the server shows at `/docs`. */
export function apiGuide(): string {
  return GUIDE;
}

export function apiEndpoints(): string {
  return Object.entries(DOCUMENT.paths)
    .map(([path, { post }]) => endpoint(path, post))
    .join('\n\n');
}

function endpoint(path: string, { summary, description, requestBody, responses }: Operation): string {
  const request = Object.values(requestBody.content['application/json'].examples)[0]?.value;
  const [status, response] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [];
  const first = response && Object.values(response.content['application/json'].examples)[0]?.value;
  return [
    `### ${summary}`,
    `\`POST ${path}\``,
    description,
    fence(request),
    `\`${status}\`:`,
    fence(first),
  ].join('\n\n');
}

/** Every error code with its statuses, message, cause and action. */
export function errorCodes(): string {
  return DOCUMENT['x-faults']
    .map(({ code, statuses, message, when, remedy }) =>
      [
        `## ${code}`,
        `${statuses.join(' or ')} · “${message}”`,
        `**Cause.**\n${oneSentencePerLine(when)}`,
        `**Action.**\n${oneSentencePerLine(remedy)}`,
      ].join('\n\n'),
    )
    .join('\n\n');
}

function oneSentencePerLine(text: string): string {
  return text.replaceAll(/(?<=\.) (?=[A-Z\d`])/g, '\n');
}

function fence(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}

export function canonicalEvents(): string {
  const rows = Object.entries(CANONICAL_EVENTS).map(([name, properties]) => [
    `\`${name}\``,
    Object.entries(properties)
      .map(([property, { type, required }]) => `\`${property}\` (${type}${required ? ', required' : ''})`)
      .join(', '),
  ]);
  return tableOf(['Event', 'Typed properties'], rows);
}

export function apiLimits(): string {
  const limits = DOCUMENT['x-limits'].map(({ name, value }) => [name, value]);
  const rates = DOCUMENT['x-rate-limits'].map(({ path, rate, burst }) => [
    `\`POST ${path}\``,
    rate.toLocaleString('en-US'),
    burst.toLocaleString('en-US'),
  ]);
  return [
    tableOf(['Limit', 'At most'], limits),
    'Requests of a project, before it gets 429 (`beckon rate-limits set` changes these limits):',
    tableOf(['Endpoint', 'Per second', 'Burst'], rates),
  ].join('\n\n');
}
