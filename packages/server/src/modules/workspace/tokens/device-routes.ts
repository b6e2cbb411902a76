import { type DeviceApproval } from '@beckon/contract/dashboard';
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
import type { DeviceQuery } from './store.ts';
import { callerOf } from '../members/caller.ts';
import { notifyMember } from '../members/notices.ts';
import { type KitDeps, type AuditRecorder, routesFor } from '../dashboard-api/route.ts';
import { stateOf } from './routes.ts';
import type { Installation } from '../members/installation.ts';

type Deps = KitDeps & { accountEmails: AccountEmails; installation: Installation };
const { openRoute, route } = routesFor<Deps>();

const BODY_MAX_BYTES = 4_096;

/**
 * All within 15 minutes. An office shares one address. A code has 20^8 forms, and at most 1,000 of them wait. No limit is shared by all
 * callers: otherwise one of them could keep all others from logging in.
 */
const REQUESTS_PER_ADDRESS = 30;
const POLLS_PER_ADDRESS = 3_000;
const LOOKUPS_PER_MEMBER = 100;

/** The device flow, which gives a member's program access without their password. */
export const deviceRoutes = [
  openRoute('POST /device', {
    isForPrograms: true,
    audit: 'token.request',
    bodyMaxBytes: BODY_MAX_BYTES,
    async handle(deps, { body, request }) {
      const { address } = callerOf(deps, request);
      await countWithin(deps, [{ key: `device ${addressGroup(address)}`, most: REQUESTS_PER_ADDRESS }]);
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
    bodyMaxBytes: BODY_MAX_BYTES,
    async handle(deps, { body, request, record }) {
      const { address } = callerOf(deps, request);
      await countWithin(deps, [{ key: `device token ${addressGroup(address)}`, most: POLLS_PER_ADDRESS }]);
      const made = await fetchToken(deps, body.device_code, record);
      if (made.state !== 'approved') return { data: made };
      const { member: person, token, id, scopes, label, expiresAt } = made;
      const held = { id, label, scopes, expiresAt, member: person };
      const state = 'approved' as const;
      return { data: { state, token, ...(await stateOf(deps, held)) } };
    },
  }),
  route('GET /device/:code', {
    needs: 'signed_in',
    isAccount: true,
    async handle(deps, { params, member }) {
      const code = await readCode(deps, params.code, member);
      return { data: deviceRequestView(code, await lookAtDevice(deviceDeps(deps), code)) };
    },
  }),
  route('POST /device/:code/approve', {
    needs: 'signed_in',
    isAccount: true,
    needsConfirmation: true,
    audit: 'token.approve',
    async handle(deps, { params, member, body, request, note }) {
      const code = await readCode(deps, params.code, member);
      await requireFactor(deps, member);
      const { scopes } = body;
      const by = { code, by: member.id, state: 'approved' as const };
      const device = await decide(deps, scopes === undefined ? by : { ...by, scopes });
      const { label, scopes: granted, address } = device;
      note({ subject: label, after: { scopes: granted, address } });
      const change = { kind: 'program_approved', label, scopes: granted, address } as const;
      notifyMember(deps, request, { member: member, change });
      return { data: deviceRequestView(code, device) };
    },
  }),
  route('POST /device/:code/deny', {
    needs: 'signed_in',
    isAccount: true,
    audit: 'token.deny',
    async handle(deps, { params, member, note }) {
      const code = await readCode(deps, params.code, member);
      const device = await decide(deps, { code, by: member.id, state: 'denied' });
      note({ subject: device.label, after: { address: device.address } });
      return { data: deviceRequestView(code, device) };
    },
  }),
];

function decide(deps: Deps, decision: DeviceDecision): Promise<DeviceQuery> {
  return decideAboutDevice(deviceDeps(deps), decision);
}

function deviceDeps({ db, pepper }: Pick<Deps, 'db' | 'pepper'>): DeviceDeps {
  return { tx: db, pepper: pepper.current, now: db.clock.now() };
}

type CreatedToken = Awaited<ReturnType<typeof createToken>> & {
  state: 'approved';
  member: Pick<SignedInMember, 'id' | 'name' | 'email'>;
  label: string;
  scopes: DeviceQuery['scopes'];
};

/** Uses up the device code and creates the token in one commit, so no token exists that could not be returned. */
function fetchToken(
  { db, newId, pepper }: Deps,
  deviceCode: string,
  record: AuditRecorder,
): Promise<CreatedToken | { state: 'waiting' | 'denied' | 'expired' }> {
  const now = db.clock.now();
  return db.transaction(async (tx) => {
    const fetched = await fetchDevice({ tx, pepper: pepper.current, now }, deviceCode);
    if (fetched.state !== 'approved') return fetched;
    const member = await findUserById(tx, fetched.memberId);
    if (!member) return { state: 'expired' as const };
    const made = await createToken({ tx, newId, pepper: pepper.current, now }, fetched);
    const { label, scopes } = fetched;
    const after = { id: made.id, scopes, expires_at: made.expiresAt.toISOString() };
    await record(tx, { by: member, subject: label, after });
    return { ...made, state: 'approved' as const, member, label, scopes };
  });
}

/** Counts an attempt before it is checked, so that a hundred concurrent guesses count as a hundred. */
async function readCode(deps: Deps, text: string, { id }: Pick<SignedInMember, 'id'>): Promise<string> {
  await countWithin(deps, [{ key: `device code ${id}`, most: LOOKUPS_PER_MEMBER }]);
  return readUserCode(text) ?? unknownCode();
}

/** Requires the authenticator app that an organization requires of its members before they approve a program. */
async function requireFactor({ db }: Deps, { id }: Pick<SignedInMember, 'id'>): Promise<void> {
  const missing = (await listMemberships(db, id)).filter(
    (organization) => organization.must_set_up_two_factor,
  );
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(', ');
  const message = `${names} requires an authenticator app. Set one up in your profile first`;
  throw new Fault('role_required', { details: [{ message }] });
}

function deviceRequestView(code: string, device: DeviceQuery): DeviceApproval {
  const { label, scopes, address, requestedAt: askedAt, expiresAt, state } = device;
  const [requested_at, expires_at] = [askedAt.toISOString(), expiresAt.toISOString()];
  return { code, label, scopes, address, requested_at, expires_at, state };
}
