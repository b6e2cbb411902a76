import type { IncomingMessage, ServerResponse } from 'node:http';
import { BULK_INGEST_MAX_RECORDS } from '@beckon/contract';
import { Fault } from '../../../platform/fault.ts';
import type { VerifiedKey } from '../keys/key.ts';
import type { IngestResponse, IngestResult } from '../accept/entry.ts';
import type { Grant } from '../../../platform/rate-limits/bucket.ts';
import { faultResponse, writeResponse } from '../../../platform/http/answers.ts';
import { authenticate, confirmKey, cachedKey } from './authenticate.ts';
import { holdOf } from '../../../platform/http/body.ts';
import { type Call, type HttpDeps, refusalOf, type Tally } from './call.ts';
import { rateLimitHeaders } from './rate-limit.ts';
import { refuseBody } from '../../../platform/http/refuse-request.ts';
import { transportOf } from '../../../platform/http/transport.ts';
import { createDrainRate, type DrainRate } from './drain-rate.ts';
import type { IngestEndpoint, ReadRequest } from './endpoint.ts';
import type { LargeBodies } from './large-bodies.ts';
import { countPlaceholders } from '../warnings/warnings.ts';
import { type IdempotentRequest, receive } from './receive.ts';

export type Ingest = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Runs the steps that all five endpoints share, in the one order that the contract fixes:
 *
 *   key → rate limit → media type, coding, size → parse → Idempotency-Key → (its answer, or) validation →
 *   queue gate → one durable commit → 2xx
 *
 * The redirect, 404 and 405 come before, in the edge and the router. A refusal is thrown as a `Fault` at any step. A cached key is checked
 * in the database before the refusal is sent.
 */
export function createIngest(deps: HttpDeps, endpoint: IngestEndpoint, largeBodies: LargeBodies): Ingest {
  const drainRate = createDrainRate(BULK_INGEST_MAX_RECORDS);
  return async function ingest(request, response) {
    const call: Call = { request, response, id: deps.newId(), headers: [], key: null, keyIsFresh: false };
    const tally: Tally = { code: null, accepted: 0, rejected: 0, bytes: 0, startedAt: deps.clock.now() };
    try {
      const reply = await handle({ deps, endpoint, call, drainRate, largeBodies, resetS: 0, tally });
      if (reply) respond(deps, call, { endpoint, status: reply.status, body: reply.body ?? ACCEPTED, tally });
    } catch (error) {
      await refuse(deps, call, { endpoint, error, tally });
    }
  };
}

const ACCEPTED = '{"data":{"accepted":true}}';

type Step = {
  deps: HttpDeps;
  endpoint: IngestEndpoint;
  call: Call;
  drainRate: DrainRate;
  largeBodies: LargeBodies;
  /** Seconds until the rate limit's next token, once it was checked. */
  resetS: number;
  tally: Tally;
};

/** Null: the client left, so no answer is read. */
async function handle(step: Step): Promise<IngestResponse | null> {
  const { deps, endpoint, call } = step;
  const key = (call.key = cachedKey(deps, call.request) ?? (await authenticate(deps, call)));
  const { counter } = deps;
  const { name } = endpoint;
  spend(step, counter.takeNow(key.projectId, name) ?? (await counter.take(key.projectId, name)));
  const hold = holdOf(deps.bodies(key.projectId));
  try {
    const received = await receive({ ...step, hold, projectId: key.projectId, now: () => nowOf(step, key) });
    if (!received) return null;
    const { once, read } = received;
    return await (read.ok ? store(step, { key, once, read }) : refuseInvalid(step, { key, once, read }));
  } finally {
    hold.release();
  }
}

/** Returns the time of the project: a sandbox has a clock of its own. */
async function nowOf({ deps, tally }: Step, { livemode, projectId }: VerifiedKey): Promise<number> {
  if (livemode) return deps.clock.now();
  const aheadMs = await deps.aheadOf(projectId).catch((cause: unknown) => {
    throw new Fault('server_error', { retryAfterS: 1, cause });
  });
  tally.aheadMs = aheadMs;
  return deps.clock.now() + aheadMs;
}

function spend(step: Step, grant: Grant): void {
  const { endpoint, call } = step;
  call.headers.push(...rateLimitHeaders(endpoint.name, grant));
  step.resetS = grant.limit.resetS;
  if (!grant.ok) throw new Fault('rate_limited', { retryAfterS: grant.retryAfterS });
}

type Read<Ok extends boolean> = {
  key: VerifiedKey;
  once: IdempotentRequest | null;
  read: Extract<ReadRequest, { ok: Ok }>;
};

/** A stored answer to this Idempotency-Key takes precedence over every fault of this body. */
async function refuseInvalid(step: Step, { key, once, read }: Read<false>): Promise<IngestResponse> {
  const result = once && (await step.deps.accept.recall(key.projectId, once));
  if (result) return replyTo(step, result);
  throw new Fault('validation_failed', { details: read.faults });
}

async function store(step: Step, { key, once, read }: Read<true>): Promise<IngestResponse> {
  const { deps, endpoint, call } = step;
  const { records, parts, reply } = read;
  const entry = { key, once, kind: endpoint.stores, records, parts, reply };
  const result = await deps.accept.store(entry, endpoint.kind === 'bulk' ? 'bulk' : 'live');
  if (result.state !== 'stored') return replyTo(step, result);
  if (endpoint.kind === 'bulk') step.drainRate.add(key.projectId, records, deps.clock.now());
  step.tally.accepted = records;
  step.tally.rejected = read.refused.length;
  step.tally.faults = read.refused;
  noteUse(deps, call);
  if (once && !once.isUuidV4) deps.warnings.note(key.projectId, 'idempotency_key_not_uuid_v4');
  if (countPlaceholders(read.userIds) > 0) deps.warnings.note(key.projectId, 'placeholder_user_id');
  return reply;
}

/** Runs once the key is known to be live: records its use, and reports the least version to an outdated client. */
function noteUse(deps: HttpDeps, call: Call): void {
  if (!call.key) return;
  const userAgent = call.request.headers['user-agent'];
  deps.keyUse.note(call.key, userAgent);
  const outdated = userAgent === undefined ? undefined : deps.keyUse.outdated(userAgent);
  if (outdated !== undefined) call.headers.push('X-Client-Outdated', outdated);
}

/** Answers a request that stores nothing. The key is checked in the database before such an answer, here or in `refuse`. */
async function replyTo(step: Step, result: IngestResult): Promise<IngestResponse> {
  const { deps, call, drainRate } = step;
  switch (result.state) {
    case 'stored':
      throw new Error('a stored request has its own reply');
    case 'replayed':
      await confirmKey(deps, call);
      noteUse(deps, call);
      call.headers.push('Idempotent-Replayed', 'true');
      step.tally.code = 'idempotent_replay';
      return result.reply;
    case 'reused':
      throw new Fault('idempotency_key_reuse');
    case 'key_dead':
      await confirmKey(deps, { ...call, keyIsFresh: false });
      // The key is live again a moment later, so a retry of the caller will be accepted.
      throw new Fault('server_error', { retryAfterS: 1 });
    case 'queue_full': {
      const projectId = call.key?.projectId ?? 0;
      const drainedS = drainRate.retryAfterS(projectId, result.waiting, deps.clock.now());
      throw new Fault('backfill_queue_full', { retryAfterS: Math.max(drainedS, step.resetS) });
    }
  }
}

async function refuse(
  deps: HttpDeps,
  call: Call,
  refused: { endpoint: IngestEndpoint; error: unknown; tally: Tally },
): Promise<void> {
  const { endpoint } = refused;
  const isUnavailable =
    refused.error instanceof Fault &&
    refused.error.retryAfterS !== undefined &&
    refused.error.code === 'server_error';
  // An unavailable database is not queried again; a 503 contains nothing that the holder of a dead key must not see.
  const unconfirmed = await (isUnavailable ? Promise.resolve() : confirmKey(deps, call)).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  const { error } = unconfirmed ?? refused;
  // The answer to a dead key contains nothing that was found before the key was checked.
  if (isUnavailable || unconfirmed || isAboutKey(error)) call.headers.length = 0;
  else noteUse(deps, call);
  const { status, headers, body } = faultResponse(error, endpoint.kind);
  if (status >= 500)
    deps.log.error({ endpoint: endpoint.name, request_id: call.id, status, err: error }, 'request.failed');
  else
    deps.log.debug(
      { endpoint: endpoint.name, request_id: call.id, status, code: body.errors[0]?.code },
      'request.rejected',
    );
  call.headers.push(...Object.entries(headers).flat());
  refuseBody(call.request, call.response);
  const tally = { ...refused.tally, ...refusalOf(body.errors) };
  respond(deps, call, { endpoint, status, body: JSON.stringify(body), tally });
}

function isAboutKey(error: unknown): boolean {
  return error instanceof Fault && (error.code === 'auth_required' || error.code === 'forbidden');
}

function respond(
  deps: HttpDeps,
  call: Call,
  response: { endpoint: IngestEndpoint; status: number; body: string; tally: Tally },
): void {
  const { status, tally } = response;
  const { name } = response.endpoint;
  deps.countResponse(name, status, tally.code);
  // A request with a dead key belongs to no project.
  if (call.key && status !== 401) {
    deps.requests.note({
      projectId: call.key.projectId,
      endpoint: name,
      status,
      requestId: call.id,
      keyId: call.key.id,
      code: tally.code,
      accepted: tally.accepted,
      rejected: tally.rejected,
      bytes: tally.bytes,
      ...(tally.aheadMs !== undefined && { aheadMs: tally.aheadMs }),
      ...(tally.faults && { faults: tally.faults }),
      ms: Math.max(0, deps.clock.now() - tally.startedAt),
    });
  }
  const https = transportOf(deps.transport, call.request) === 'https';
  writeResponse(call.response, call.id, {
    status,
    body: response.body,
    headers: call.headers,
    https,
  });
}
