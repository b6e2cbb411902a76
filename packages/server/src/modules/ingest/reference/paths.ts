import type { FieldFault } from '../../../platform/fault.ts';
import { runSteps } from '../../../platform/time/steps.ts';
import { INGEST_ENDPOINTS } from '../api/endpoints.ts';
import type { IngestEndpoint } from '../api/endpoint.ts';
import { parameterRefs, schemaRef } from './components.ts';
import { jsonText } from './json-text.ts';
import type { Example, OpenApiDocument, Operation } from './openapi.ts';
import { EXAMPLES_AT, OPERATION_TEXTS, type OperationText } from './operations.ts';
import { faultResponses, successResponse } from './responses.ts';

export function paths(publicUrl: string): OpenApiDocument['paths'] {
  return Object.fromEntries(
    INGEST_ENDPOINTS.map((endpoint) => [endpoint.path, { post: operation(endpoint, publicUrl) }]),
  );
}

const REQUEST_SCHEMAS = {
  users: 'User',
  'users-bulk': 'UsersBulk',
  events: 'Event',
  'events-batch': 'EventsBatch',
  'events-bulk': 'EventsBulk',
} as const satisfies Record<IngestEndpoint['name'], string>;

function operation(endpoint: IngestEndpoint, publicUrl: string): Operation {
  const text = OPERATION_TEXTS[endpoint.name];
  const { status, examples } = success(endpoint, text);
  const request = {
    schema: schemaRef(REQUEST_SCHEMAS[endpoint.name]),
    examples: { request: { summary: text.summary, value: text.body } },
  };
  return {
    operationId: text.operationId,
    tags: [text.tag],
    summary: text.summary,
    description: text.description,
    parameters: parameterRefs(),
    requestBody: { required: true, description: text.request, content: { 'application/json': request } },
    responses: {
      [status]: successResponse(text.success, text.response, examples),
      ...faultResponses({
        kind: endpoint.kind,
        httpsOnly: publicUrl.startsWith('https:'),
        invalid: faultsOf(endpoint, text.invalid),
      }),
    },
    'x-codeSamples': [{ lang: 'Shell', label: 'curl', source: curl(publicUrl + endpoint.path, text.body) }],
  };
}

function success(
  endpoint: IngestEndpoint,
  text: OperationText,
): { status: number; examples: Record<string, Example> } {
  const { status, value } = replyTo(endpoint, text.body);
  const examples: Record<string, Example> = { accepted: { summary: 'All records were accepted', value } };
  if (text.partly) {
    examples['partly'] = { summary: 'One record was rejected', value: replyTo(endpoint, text.partly).value };
  }
  return { status, examples };
}

const READ_OPTIONS = { now: EXAMPLES_AT, checkStrings: true };

/** Returns the answer of the endpoint itself. A null body is the plain acceptance, as in `ingest.ts`. */
function replyTo(
  endpoint: IngestEndpoint,
  body: Record<string, unknown>,
): { status: number; value: unknown } {
  const read = runSteps(endpoint.read(body, READ_OPTIONS));
  if (!read.ok) throw new Error(`the example of ${endpoint.path} is refused`);
  const { status, body: text } = read.reply;
  return { status, value: text === null ? { data: { accepted: true } } : (JSON.parse(text) as unknown) };
}

function faultsOf(endpoint: IngestEndpoint, body: Record<string, unknown>): FieldFault[] {
  const read = runSteps(endpoint.read(body, READ_OPTIONS));
  if (read.ok) throw new Error(`the invalid example of ${endpoint.path} is taken`);
  return read.faults;
}

/** `uuidgen` may be missing; curl then sends no Idempotency-Key, and the command still works. */
function curl(url: string, body: Record<string, unknown>): string {
  return [
    `curl ${quoteForShell(url)} \\`,
    `  -H "Authorization: Bearer $BECKON_API_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -H "Idempotency-Key: $(uuidgen)" \\`,
    `  -d ${quoteForShell(jsonText(body))}`,
  ].join('\n');
}

function quoteForShell(text: string): string {
  return /^[\w:/.-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
