import { buildDocument } from '../../packages/server/src/modules/ingest/reference/document.ts';
import { jsonText } from '../../packages/server/src/modules/ingest/reference/json-text.ts';
import type {
  JsonSchema,
  Operation,
  Ref,
  Response,
} from '../../packages/server/src/modules/ingest/reference/openapi.ts';
import { slugOf } from '../slug.ts';
import { tableOf } from './table.ts';

/** Only with https the document has the redirect from plain HTTP. */
export const DOCUMENT = buildDocument({ publicUrl: 'https://beckon.example', version: '0' });
/** Commands use the address of a server on the machine of the reader. */
const LOCAL = buildDocument({ publicUrl: 'http://localhost:8080', version: '0' });

const OPERATIONS = Object.values(DOCUMENT.paths).map(({ post }) => post);

/** Each endpoint with its fields, command and responses, then the errors that all endpoints have. */
export function apiEndpoints(): string {
  const endpoints = Object.entries(DOCUMENT.paths).map(([path, { post }]) => endpoint(path, post));
  return [...endpoints, `### ${SHARED_TITLE}`, statusTable(sharedErrors().map(errorRow))].join('\n\n');
}

const SHARED_TITLE = 'Errors of every endpoint';

function endpoint(path: string, operation: Operation): string {
  const { summary, description } = operation;
  const [command] = LOCAL.paths[path]?.post['x-codeSamples'] ?? [];
  return [
    `### ${summary}`,
    `\`POST ${path}\``,
    description,
    fieldTable(operation),
    fence('sh', command?.source ?? ''),
    statusTable(ownStatuses(operation)),
    ...examples(operation),
  ].join('\n\n');
}

function fieldTable({ requestBody }: Operation): string {
  const { properties = {}, required = [] } = schemaAt(requestBody.content['application/json'].schema);
  const rows = Object.entries(properties).map(([name, field]) => [
    `\`${name}\``,
    `${typeOf(field)}, ${required.includes(name) ? 'required' : 'optional'}`,
    field.description ?? recordLink(field),
  ]);
  return tableOf(['Field', 'Type', 'Meaning'], rows);
}

function schemaAt({ $ref }: Ref): JsonSchema {
  const schema = DOCUMENT.components.schemas[$ref.split('/').at(-1) ?? ''];
  if (!schema) throw new Error(`no schema at ${$ref}`);
  return schema;
}

function typeOf({ type, format, ...field }: JsonSchema): string {
  const bounds = [
    ...(field.maxItems === undefined ? [] : [`${range(field.minItems, field.maxItems)} items`]),
    ...(field.maxLength === undefined ? [] : [`${range(field.minLength, field.maxLength)} characters`]),
    ...(field.default === undefined ? [] : [`\`${JSON.stringify(field.default)}\` when left out`]),
  ];
  return [type, ...(format === undefined ? [] : [format]), ...bounds].join(', ');
}

function range(min: number | undefined, max: number): string {
  const most = max.toLocaleString('en-US');
  return min === undefined ? `up to ${most}` : `${min} to ${most}`;
}

/** Says of a list of records which endpoint describes one. */
function recordLink({ items }: JsonSchema): string {
  const single = OPERATIONS.find(
    ({ requestBody }) => requestBody.content['application/json'].schema.$ref === items?.$ref,
  );
  if (!single) throw new Error('no endpoint accepts one such record');
  return `Each as in [${single.summary}](#${slugOf(single.summary)}).`;
}

function statusTable(rows: string[][]): string {
  return tableOf(['Status', 'Meaning'], rows);
}

function ownStatuses(operation: Operation): string[][] {
  const shared = new Set(sharedErrors().map(([status]) => status));
  const own = Object.entries(operation.responses).filter(([status]) => !shared.has(status));
  return [
    ...own.map(([status, response]) =>
      isSuccess(status) ? [status, response.description] : errorRow([status, response]),
    ),
    ['others', `[${SHARED_TITLE}](#${slugOf(SHARED_TITLE)})`],
  ];
}

/** The error statuses that have the same codes at all endpoints. */
function sharedErrors(): [string, Response][] {
  const codesAt = (operation: Operation, status: string): string => {
    const response = operation.responses[status];
    return response ? codesOf(response).join() : '';
  };
  return Object.entries(OPERATIONS[0]?.responses ?? {}).filter(
    ([status, response]) =>
      !isSuccess(status) && OPERATIONS.every((other) => codesAt(other, status) === codesOf(response).join()),
  );
}

function isSuccess(status: string): boolean {
  return status.startsWith('2');
}

function codesOf({ content }: Response): string[] {
  return Object.keys(content['application/json'].examples);
}

function errorRow([status, response]: [string, Response]): string[] {
  return [
    status,
    codesOf(response)
      .map((code) => `[\`${code}\`](errors.md#${slugOf(code)})`)
      .join(', '),
  ];
}

/** All examples of a success, and one error, because the others have the same form. */
function examples({ responses }: Operation): string[] {
  return Object.entries(responses).flatMap(([status, { content }]) => {
    const all = Object.entries(content['application/json'].examples);
    if (!isSuccess(status))
      return all
        .filter(([code]) => code === 'validation_failed')
        .flatMap(([code, { value }]) => [`\`${status}\`, \`${code}\`:`, fence('json', jsonText(value))]);
    return all.flatMap(([, { summary, value }]) => [
      all.length === 1 ? `\`${status}\`:` : `\`${status}\`, ${lowerFirst(summary)}:`,
      fence('json', jsonText(value)),
    ]);
  });
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}
