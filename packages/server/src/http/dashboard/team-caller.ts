import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Caller } from '../../features/team/index.ts';
import { mailPerson, type TeamMailOptions } from '../../flows/team-mail.ts';
import { clientAddress } from '../transport.ts';
import type { RouteDeps } from './route.ts';

/** A credential id has at most 1023 bytes (WebAuthn), in base64url. The library checks its other properties. */
const CREDENTIAL_ID = Type.String({ pattern: '^[\\w-]+$', maxLength: 1_364 });
/** The value that `navigator.credentials.get` returned. */
export const PASSKEY_RESPONSE = Type.Object({ id: CREDENTIAL_ID }, { additionalProperties: true });

export type SignedInPerson = { personId: string | null; needsCode: boolean };

/** Returns the origin of a request, by our own rules about proxies. */
export function callerOf({ transport }: RouteDeps, request: FastifyRequest): Caller {
  return { headers: request.headers, address: clientAddress(transport, request.raw) };
}

export function setCookies(reply: FastifyReply, cookies: string[]): void {
  if (cookies.length > 0) void reply.header('Set-Cookie', cookies);
}

/** Returns whether emails of the installation itself have an outlet and a sender. */
export function mayMail({ mailroom, installation }: RouteDeps): boolean {
  return mailroom.outlet.kind !== 'relay' || installation.mailFrom !== null;
}

type Mailing = { projectId: number; to: string; letter: { subject: string; text: string } };

/** Returns whether the relay accepted the email. If not, the caller shows the link instead; that is not a failure. */
export async function mailTo(deps: RouteDeps, mailing: Mailing): Promise<boolean> {
  const { db, mailroom, installation, tokenKeys, newId, log } = deps;
  const { outlet } = mailroom;
  const { mailFrom } = installation;
  if (!mayMail(deps)) return false;
  try {
    const options: TeamMailOptions = {
      db,
      relay: await deps.wayOut(),
      outlet,
      mailFrom,
      tokenKeys,
      newId,
    };
    return await mailPerson(options, mailing);
  } catch (error) {
    log.warn({ err: error }, 'team_email.not_sent');
    return false;
  }
}
