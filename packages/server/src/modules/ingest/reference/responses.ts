import type { FaultCode } from '@beckon/contract';
import { Fault, type FieldFault } from '../../../platform/fault.ts';
import { faultResponse, type EndpointKind } from '../../../platform/http/answers.ts';
import { type HeaderName, headerRefs, isDescribedHeader, schemaRef } from './components.ts';
import { FAULT_GUIDE } from './fault-guide.ts';
import type { OpenApiContent, Example, Response } from './openapi.ts';

/** Builds the responses of refusals. Status and body come from the function that answers them, so the document cannot differ. */
export function faultResponses(options: FaultsOf): Record<string, Response> {
  const byStatus = Map.groupBy(refusals(options), (refusal) => refusal.status);
  return Object.fromEntries([...byStatus].map(([status, group]) => [String(status), toResponse(group)]));
}

export type FaultsOf = {
  kind: EndpointKind;
  /** The public address is https, so plain requests are redirected. */
  httpsOnly: boolean;
  /** The errors of an invalid request to this endpoint. */
  invalid: FieldFault[];
};

export function statusesOf(code: FaultCode): number[] {
  const faults = code === 'server_error' ? [new Fault(code), unavailable()] : [new Fault(code)];
  const kinds: EndpointKind[] = ['single', 'bulk'];
  const statuses = faults.flatMap((fault) => kinds.map((kind) => faultResponse(fault, kind).status));
  return [...new Set(statuses)].toSorted((a, b) => a - b);
}

export function successResponse(
  description: string,
  title: string,
  examples: Record<string, Example>,
): Response {
  return { description, headers: headerRefs([...SUCCESS_HEADERS]), content: json(title, examples) };
}

const LIMIT_HEADERS: HeaderName[] = ['RateLimit', 'RateLimit-Policy'];
const SUCCESS_HEADERS: HeaderName[] = [
  'X-Request-Id',
  ...LIMIT_HEADERS,
  'Idempotent-Replayed',
  'X-Client-Outdated',
];

type Refusal = { code: FaultCode; status: number; headers: HeaderName[]; example: Example };

function refusals({ kind, httpsOnly, invalid }: FaultsOf): Refusal[] {
  const faults = [
    ...(httpsOnly ? [new Fault('https_required')] : []),
    new Fault('validation_failed', { details: invalid }),
    ...BEFORE_THE_LIMIT.map((code) => new Fault(code)),
    ...AFTER_THE_LIMIT.map((code) => new Fault(code)),
    new Fault('rate_limited', { retryAfterS: 1 }),
    ...(kind === 'bulk' ? [new Fault('backfill_queue_full', { retryAfterS: 30 })] : []),
    new Fault('server_error'),
    unavailable(),
  ];
  return faults.map((fault) => toRefusal(fault, kind)).toSorted((a, b) => a.status - b.status);
}

const BEFORE_THE_LIMIT = [
  'auth_required',
  'forbidden',
  'bad_request',
  'request_timeout',
  'headers_too_large',
] as const;
const AFTER_THE_LIMIT = ['idempotency_key_reuse', 'payload_too_large', 'unsupported_media_type'] as const;
/** Answered before the key is known, or by the socket itself: the rate limit has not been checked yet. */
const WITHOUT_LIMIT: ReadonlySet<FaultCode> = new Set(['https_required', ...BEFORE_THE_LIMIT]);

function unavailable(): Fault<FaultCode> {
  return new Fault('server_error', { retryAfterS: 1 });
}

function toRefusal(fault: Fault<FaultCode>, kind: EndpointKind): Refusal {
  const { status, headers, body } = faultResponse(fault, kind);
  const { code } = fault;
  return {
    code,
    status,
    headers: [
      'X-Request-Id',
      ...(WITHOUT_LIMIT.has(code) ? [] : LIMIT_HEADERS),
      ...Object.keys(headers).filter(isDescribedHeader),
      ...(code === 'https_required' ? (['Location'] as const) : []),
    ],
    example: { summary: code, value: body },
  };
}

function toResponse(group: Refusal[]): Response {
  const description = group.map(({ code }) => `\`${code}\`: ${FAULT_GUIDE[code].when}`).join('\n\n');
  const examples = Object.fromEntries(group.map(({ code, example }) => [code, example]));
  return {
    description,
    headers: headerRefs(new Set(group.flatMap((refusal) => refusal.headers))),
    content: json('Error', examples),
  };
}

function json(title: string, examples: Record<string, Example>): OpenApiContent {
  return { 'application/json': { schema: schemaRef(title), examples } };
}
