import { Type } from 'typebox';
import { type DeviceAsked, TOKEN_SCOPES } from '@beckon/contract/dashboard';
import { addressGroup } from '../../../platform/net/network-address.ts';
import { Fault } from '../../../platform/fault.ts';
import type { AccountEmails } from '../members/account-emails.ts';
import { countWithin } from '../members/attempts.ts';
import { findUserById, listMemberships } from '../members/reads.ts';
import type { SignedInMember } from '../members/team.ts';
import {
  beginDevice,
  decideAboutDevice,
  type DeviceDecision,
  DEVICE_INTERVAL_S,
  type DeviceDeps,
  fetchDevice,
  lookAtDevice,
  readUserCode,
  unknownCode,
} from './device.ts';
import { createToken } from './create-token.ts';
import type { DeviceAsking } from './store.ts';
import { callerOf } from '../members/caller.ts';
import { notifyMember } from '../members/notices.ts';
import { type KitDeps, type Recording, routesFor } from '../dashboard-api/route.ts';
import { stateOf } from './routes.ts';
import type { Installation } from '../members/installation.ts';

type Deps = KitDeps & { accountEmails: AccountEmails; installation: Installation };
const { openRoute, route } = routesFor<Deps>();

const SCOPES = Type.Array(Type.Union(TOKEN_SCOPES.map((scope) => Type.Literal(scope))), {
  maxItems: TOKEN_SCOPES.length,
});
const TEXT = Type.String({ maxLength: 200 });
const BODY_MAX_BYTES = 4_096;

/**
 * All within 15 minutes. An office shares one address. A code has 20^8 forms, and at most 1,000 of them wait. No limit is shared by all
 * callers: otherwise one of them could keep all others from logging in.
 */
const ASKED_BY_ADDRESS = 30;
const POLLED_BY_ADDRESS = 3_000;
const LOOKED_AT_BY_PERSON = 100;

/** The device flow, which gives a member's program access without their password. */
export const deviceRoutes = [
  openRoute('POST /device', {
    isForPrograms: true,
    audit: 'token.request',
    body: Type.Object({ label: TEXT, scopes: SCOPES }),
    bodyMaxBytes: BODY_MAX_BYTES,
    async handle(deps, { body, request }) {
      const { address } = callerOf(deps, request);
      await countWithin(deps, [{ key: `device ${addressGroup(address)}`, most: ASKED_BY_ADDRESS }]);
      const begun = await beginDevice(deviceDeps(deps), { ...body, address });
      const url = new URL('/device', deps.transport.publicOrigin);
      url.searchParams.set('code', begun.userCode);
      return {
        data: {
          device_code: begun.deviceCode,
          user_code: begun.userCode,
          verification_url: url.href,
          expires_at: begun.expiresAt.toISOString(),
          interval_s: DEVICE_INTERVAL_S,
        },
      };
    },
  }),
  openRoute('POST /device/token', {
    isForPrograms: true,
    audit: 'token.create',
    body: Type.Object({ device_code: TEXT }),
    bodyMaxBytes: BODY_MAX_BYTES,
    async handle(deps, { body, request, record }) {
      const { address } = callerOf(deps, request);
      await countWithin(deps, [{ key: `device token ${addressGroup(address)}`, most: POLLED_BY_ADDRESS }]);
      const made = await fetchToken(deps, body.device_code, record);
      if (made.state !== 'approved') return { data: made };
      const { person, token, id, scopes, label, expiresAt } = made;
      const held = { id, label, scopes, expiresAt, person };
      const state = 'approved' as const;
      return { data: { state, token, ...(await stateOf(deps, held)) } };
    },
  }),
  route('GET /device/:code', {
    needs: 'signed_in',
    isAccount: true,
    async handle(deps, { params, person }) {
      const code = await readCode(deps, params.code, person);
      return { data: toShown(code, await lookAtDevice(deviceDeps(deps), code)) };
    },
  }),
  route('POST /device/:code/approve', {
    needs: 'signed_in',
    isAccount: true,
    needsConfirmation: true,
    audit: 'token.approve',
    body: Type.Object({ scopes: Type.Optional(SCOPES) }),
    async handle(deps, { params, person, body, request, note }) {
      const code = await readCode(deps, params.code, person);
      await requireFactor(deps, person);
      const { scopes } = body;
      const by = { code, by: person.id, state: 'approved' as const };
      const done = await decide(deps, scopes === undefined ? by : { ...by, scopes });
      const { label, scopes: given, address } = done;
      note({ subject: label, after: { scopes: given, address } });
      const change = { kind: 'program_approved', label, scopes: given, address } as const;
      notifyMember(deps, request, { member: person, change });
      return { data: toShown(code, done) };
    },
  }),
  route('POST /device/:code/deny', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'token.deny',
    async handle(deps, { params, person, note }) {
      const code = await readCode(deps, params.code, person);
      const done = await decide(deps, { code, by: person.id, state: 'denied' });
      note({ subject: done.label, after: { address: done.address } });
      return { data: toShown(code, done) };
    },
  }),
];

function decide(deps: Deps, decision: DeviceDecision): Promise<DeviceAsking> {
  return decideAboutDevice(deviceDeps(deps), decision);
}

function deviceDeps({ db, pepper }: Pick<Deps, 'db' | 'pepper'>): DeviceDeps {
  return { tx: db, pepper: pepper.current, now: db.clock.now() };
}

type Made = Awaited<ReturnType<typeof createToken>> & {
  state: 'approved';
  person: Pick<SignedInMember, 'id' | 'name' | 'email'>;
  label: string;
  scopes: DeviceAsking['scopes'];
};

/** Uses up the device code and creates the token in one commit, so no token exists that could not be returned. */
function fetchToken(
  { db, newId, pepper }: Deps,
  deviceCode: string,
  record: Recording,
): Promise<Made | { state: 'waiting' | 'denied' | 'expired' }> {
  const now = db.clock.now();
  return db.transaction(async (tx) => {
    const fetched = await fetchDevice({ tx, pepper: pepper.current, now }, deviceCode);
    if (fetched.state !== 'approved') return fetched;
    const person = await findUserById(tx, fetched.personId);
    if (!person) return { state: 'expired' as const };
    const made = await createToken({ tx, newId, pepper: pepper.current, now }, fetched);
    const { label, scopes } = fetched;
    const after = { id: made.id, scopes, expires_at: made.expiresAt.toISOString() };
    await record(tx, { by: person, subject: label, after });
    return { ...made, state: 'approved' as const, person, label, scopes };
  });
}

/** Counts an attempt before it is checked, so that a hundred concurrent guesses count as a hundred. */
async function readCode(deps: Deps, text: string, { id }: Pick<SignedInMember, 'id'>): Promise<string> {
  await countWithin(deps, [{ key: `device code ${id}`, most: LOOKED_AT_BY_PERSON }]);
  return readUserCode(text) ?? unknownCode();
}

/** Requires the authenticator app that an organization requires of its members before they approve a program. */
async function requireFactor({ db }: Deps, { id }: Pick<SignedInMember, 'id'>): Promise<void> {
  const asking = (await listMemberships(db, id)).filter(({ lacksFactor }) => lacksFactor);
  if (asking.length === 0) return;
  const names = asking.map(({ name }) => name).join(', ');
  const message = `${names} requires an authenticator app. Set one up in your profile first`;
  throw new Fault('role_required', { details: [{ message }] });
}

function toShown(code: string, asked: DeviceAsking): DeviceAsked {
  const { label, scopes, address, askedAt, expiresAt, state } = asked;
  const [requested_at, expires_at] = [askedAt.toISOString(), expiresAt.toISOString()];
  return { code, label, scopes, address, requested_at, expires_at, state };
}
