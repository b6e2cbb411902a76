import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Caller } from './team.ts';
import { clientAddress } from '../../../platform/http/transport.ts';
import type { KitDeps } from '../dashboard-api/route.ts';

/** A credential id has at most 1023 bytes (WebAuthn), in base64url. The library checks its other properties. */
const CREDENTIAL_ID = Type.String({ pattern: '^[\\w-]+$', maxLength: 1_364 });
/** The value that `navigator.credentials.get` returned. */
export const PASSKEY_RESPONSE = Type.Object({ id: CREDENTIAL_ID }, { additionalProperties: true });

export type SignInOutcome = { memberId: string | null; needsCode: boolean };

/** Returns the origin of a request, by our own rules about proxies. */
export function callerOf({ transport }: Pick<KitDeps, 'transport'>, request: FastifyRequest): Caller {
  return { headers: request.headers, address: clientAddress(transport, request.raw) };
}

export function setCookies(reply: FastifyReply, cookies: string[]): void {
  if (cookies.length > 0) void reply.header('Set-Cookie', cookies);
}
