import type { IncomingMessage } from 'node:http';
import { Fault } from '../base/fault.ts';
import type { VerifiedKey } from '../features/keys/index.ts';
import type { Call, HttpDeps } from './deps.ts';
import { clientAddress } from './transport.ts';

type AuthDeps = Pick<HttpDeps, 'keyring' | 'guard' | 'transport'>;

/** Scheme of any case, one space, one header (a second one makes a comma, which is in no key). Never the query string. */
const BEARER = /^Bearer ([A-Za-z0-9_-]+)$/i;

/** The key if this process knows it already: no promise on the way of nearly every request. */
export function knownKey(deps: AuthDeps, request: IncomingMessage): VerifiedKey | undefined {
  return deps.keyring.known(bearerOf(request));
}

/** All causes of 401 have one answer: missing, malformed, wrong prefix, unknown, revoked. */
export async function authenticate(deps: AuthDeps, call: Call): Promise<VerifiedKey> {
  const address = clientAddress(deps.transport, call.request);
  const refusal = deps.guard.refusal(address);
  if (refusal) throw refusal;
  const verdict = await deps.keyring.verify(bearerOf(call.request));
  if (verdict.state === 'unknown') {
    deps.guard.failed(address);
    throw new Fault('auth_required');
  }
  call.key = verdict.key;
  call.keyIsFresh = true;
  if (verdict.state === 'suspended') throw new Fault('forbidden', SUSPENDED);
  return verdict.key;
}

/**
 * Before an answer that rests on a remembered key: what the database says of it now. A revoked key hears nothing but
 * 401, whatever else is wrong with its request.
 */
export async function confirmKey(deps: AuthDeps, call: Call): Promise<void> {
  if (!call.key || call.keyIsFresh) return;
  const state = await deps.keyring.check(call.key);
  call.keyIsFresh = true;
  if (state === 'revoked') throw new Fault('auth_required');
  if (state === 'suspended') throw new Fault('forbidden', SUSPENDED);
}

const SUSPENDED = { details: [{ message: 'The project of this API key is suspended' }] };
const NO_SECRET = '';

function bearerOf(request: IncomingMessage): string {
  return BEARER.exec(request.headers.authorization ?? '')?.[1] ?? NO_SECRET;
}
