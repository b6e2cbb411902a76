import type { IncomingMessage } from 'node:http';
import { Fault } from '../../../platform/fault.ts';
import type { VerifiedKey } from '../keys/key.ts';
import type { Call, HttpDeps } from './call.ts';
import { clientAddress } from '../../../platform/http/transport.ts';

type AuthDeps = Pick<HttpDeps, 'keyring' | 'guard' | 'transport'>;

/** The scheme in any case, one space, one header. Never the query string. */
const BEARER = /^Bearer ([A-Za-z0-9_-]+)$/i;

/** Returns the key if this process has verified it already. Nearly every request takes this path, so it creates no promise. */
export function cachedKey(deps: AuthDeps, request: IncomingMessage): VerifiedKey | undefined {
  return deps.keyring.cached(bearerOf(request));
}

/** All causes of 401 have one answer: missing, malformed, wrong prefix, unknown, revoked. */
export async function authenticate(deps: AuthDeps, call: Call): Promise<VerifiedKey> {
  const address = clientAddress(deps.transport, call.request);
  const refusal = deps.guard.refusal(address);
  if (refusal) throw refusal;
  const verification = await deps.keyring.verify(bearerOf(call.request)).catch(unavailable);
  if (verification.state === 'unknown') {
    deps.guard.failed(address);
    throw new Fault('auth_required');
  }
  call.key = verification.key;
  call.keyIsFresh = true;
  if (verification.state === 'suspended') throw new Fault('forbidden', SUSPENDED);
  return verification.key;
}

/**
 * Checks a cached key in the database before an answer that rests on it. A request with a revoked key gets only 401, whatever else is wrong
 * with it.
 */
export async function confirmKey(deps: AuthDeps, call: Call): Promise<void> {
  if (!call.key || call.keyIsFresh) return;
  const state = await deps.keyring.check(call.key).catch(unavailable);
  call.keyIsFresh = true;
  if (state === 'revoked') throw new Fault('auth_required');
  if (state === 'suspended') throw new Fault('forbidden', SUSPENDED);
}

const SUSPENDED = {
  details: [{ message: 'The project of this API key is suspended. Contact the operator of this server' }],
};
const NO_SECRET = '';
const RETRY_AFTER_S = 1;

function bearerOf(request: IncomingMessage): string {
  const secret = BEARER.exec(request.headers.authorization ?? '')?.[1];
  return secret === undefined || isRepeated(request.rawHeaders, 'authorization') ? NO_SECRET : secret;
}

/** Node keeps the first of several headers of this name, and does not report the others. */
function isRepeated(rawHeaders: string[], name: string): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i];
    if (header?.length === name.length && header.toLowerCase() === name) count += 1;
  }
  return count > 1;
}

/** A key that cannot be looked up is neither valid nor invalid. */
function unavailable(cause: unknown): never {
  throw new Fault('server_error', { retryAfterS: RETRY_AFTER_S, cause });
}
