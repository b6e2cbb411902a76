import { CANONICAL_EVENTS } from '@beckon/contract';
import { GUIDE } from '../../packages/server/src/modules/ingest/reference/guide.ts';
import { DOCUMENT } from './endpoints.ts';
import { tableOf } from './table.ts';

/** The introduction of the document. */
export function apiGuide(): string {
  return GUIDE;
}

/** The headers of requests and of responses, with an example of each. */
export function apiHeaders(): string {
  const { parameters, headers, securitySchemes } = DOCUMENT.components;
  const key = securitySchemes['apiKey'];
  const requestRows = [
    headerRow('Authorization', `Required. ${key?.description}`, `Bearer ${key?.bearerFormat}`),
    headerRow('Content-Type', 'Required. The only accepted type.', 'application/json'),
    ...Object.values(parameters).map(({ name, description, example }) =>
      headerRow(name, description, example),
    ),
  ];
  const responseRows = Object.entries(headers).map(([name, { description, example }]) =>
    headerRow(name, description, example),
  );
  return [
    '### Request headers',
    tableOf(['Header', 'Meaning'], requestRows),
    '### Response headers',
    tableOf(['Header', 'Meaning'], responseRows),
  ].join('\n\n');
}

function headerRow(name: string, description: string, example: string): string[] {
  return [`\`${name}\``, `${description} Example: \`${example}\``];
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
