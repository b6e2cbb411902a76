/**
 * Kills a server repeatedly between a request to a provider and its answer, for every kind of relay at once. Half of the requests were
 * accepted by then. At the end, what the providers accepted is compared with the database.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { openEmbedded } from '@beckon/postgres';
import { PRODUCT } from '../../src/main/product.ts';
import { createEncrypter } from '../../src/platform/crypto/encrypt.ts';
import { type Database, openDatabase } from '../../src/platform/db/database.ts';
import { idMaker } from '../../src/platform/ids.ts';
import { silentLog } from '../../src/platform/log.ts';
import type { HttpRelayKind } from '../../src/platform/relays/adapter.ts';
import { RELAY_ADAPTERS } from '../../src/platform/relays/adapters.ts';
import { relayKinds } from '../../src/platform/relays/kinds.ts';
import { systemClock } from '../../src/platform/time/clock.ts';
import { createProject } from '../../src/modules/administration/create-project.ts';
import { setSettings } from '../../src/modules/administration/set-settings.ts';
import { suppress } from '../../src/modules/outcomes/suppressions/suppress.ts';
import { addDomain } from '../../src/modules/sending/domains/add-domain.ts';
import { generateKey } from '../../src/modules/sending/domains/dkim-key.ts';
import { addRelay, useRelay } from '../../src/modules/sending/relays/change-relay.ts';
import type { RelayId } from '../../src/modules/sending/relays/relay.ts';
import { encryptSecrets } from '../../src/modules/sending/relays/secrets.ts';
import { type FakeRelay, startFakeRelay } from '../servers/relays/fake-relay.ts';
import { letFallDue, writeEmails } from './mail-survival.ts';
import { survivor, type Survivor } from './survival.ts';

const SECRET = 'a secret that only these kills know';
const KINDS = Object.keys(RELAY_ADAPTERS) as HttpRelayKind[];

/** The fate of the emails of one kill, by their position. */
const GROUPS = ['settled', 'settled', 'unsubscribed', 'after_window'] as const;
type Group = (typeof GROUPS)[number];

/** What became of the emails of one kind. */
export type KindFindings = {
  kind: HttpRelayKind;
  hasKey: boolean;
  /** Kills while at least one of its requests had no answer. */
  kills: number;
  emails: number;
  /** Accepted by the provider before the kill. */
  acceptedBefore: number;
  /** Requests that were sent to settle an unknown delivery. */
  asked: number;
  states: Record<string, number>;
  /** Emails that the provider accepted twice, or that had other bytes the second time. */
  doubled: string[];
  /** Emails that were submitted again after their recipient had unsubscribed, or after the window. */
  against: string[];
  /** Emails of kinds with a key that should be settled and are not, and emails of other kinds that are not unknown. */
  wrong: string[];
};

type Email = { group: Group; isAccepted: boolean; contents: Set<string>; submissions: number };
type KindWorld = {
  kind: HttpRelayKind;
  fake: FakeRelay;
  projectId: number;
  relay: RelayId;
  drafts: string[];
  emails: Map<string, Email>;
  kills: number;
};
type World = { db: Database; server: Survivor; kinds: KindWorld[] };

export async function relaysUnderKills(
  dataDir: string,
  { kills }: { kills: number },
): Promise<KindFindings[]> {
  const embedded = await openEmbedded({ product: PRODUCT, dataDir, log: silentLog, print: () => {} });
  const { host, port, user, password, database } = embedded.connection();
  const url = `postgres://${user}:${password}@${host}:${port}/${database}`;
  const server = await survivor(dataDir, {
    DATABASE_URL: url,
    SECRET_KEY: SECRET,
    LOG_LEVEL: 'error',
    ROLES: 'api,worker',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    PUBLIC_URL: 'https://beckon.acme.test',
    TRUST_PROXY: '127.0.0.1',
    // No name server answers here, and none is needed.
    DNS_SERVERS: '127.0.0.1:9',
  });
  await server.start();
  const connection = () => ({ connectionString: url });
  const db = await openDatabase({ connection, clock: systemClock, log: silentLog });
  const world: World = { db, server, kinds: [] };
  try {
    for (const kind of KINDS) world.kinds.push(await openKind(db, kind, kills * GROUPS.length));
    for (let kill = 0; kill < kills; kill += 1) await killOnce(world, kill);
    await settleAll(world);
    const findings: KindFindings[] = [];
    for (const kind of world.kinds) findings.push(await examine(db, kind));
    return findings;
  } finally {
    await server.stop();
    await db.close();
    for (const { fake } of world.kinds) await fake.close();
    await embedded.release();
  }
}

async function openKind(db: Database, kind: HttpRelayKind, count: number): Promise<KindWorld> {
  const fake = await startFakeRelay(kind);
  const domain = `${kind}.acme.test`;
  const { id: projectId } = await createProject(db, { name: kind });
  await setSettings(db, projectId, {
    autopilot: '24h',
    quiet_hours: 'off',
    frequency_cap: 'off',
    throttle: 'off',
    from_name: 'Acme',
    from_address: `hello@${domain}`,
    postal_address: '1 Main Street',
  });
  const encrypter = createEncrypter(SECRET, null, 'secrets at rest');
  await addVerifiedDomain(db, { projectId, name: domain });
  const kinds = relayKinds(Object.values(RELAY_ADAPTERS));
  const deps = { db, encrypter, kinds, newId: idMaker(db.clock) };
  const names = RELAY_ADAPTERS[kind].fields.map(({ name }) => name);
  const settings = Object.fromEntries(Object.entries(fake.settings).filter(([name]) => names.includes(name)));
  const relay = await addRelay(deps, { projectId, kind, name: kind, settings });
  // The fake signs its webhooks with a secret of its own, and not with the generated one.
  const { api_url: _api, server_url: _server, ...secrets } = fake.settings;
  await db.query(`UPDATE beckon.relay SET encrypted_secrets = $3 WHERE project_id = $1 AND id = $2`, [
    projectId,
    relay.id,
    encryptSecrets(encrypter, secrets, relay),
  ]);
  await useRelay(deps, { projectId, domain: '', relay });
  const drafts = await writeEmails(db, projectId, count);
  return { kind, fake, projectId, relay, drafts, emails: new Map(), kills: 0 };
}

/** Writes a domain as it is after its verification. */
async function addVerifiedDomain(
  db: Database,
  { projectId, name }: { projectId: number; name: string },
): Promise<void> {
  const encrypter = createEncrypter(SECRET, null, 'secrets at rest');
  const pair = await generateKey();
  await db.transaction(async (tx) => {
    const { domain } = await addDomain(
      { tx, clock: db.clock, encrypter },
      { projectId, name, warm: true },
      pair,
    );
    await tx.query(
      `UPDATE beckon.sending_domain SET state = 'verified', verified_at = now(), next_check_at = NULL WHERE project_id = $1 AND id = $2`,
      [projectId, domain.id],
    );
    await tx.query(`UPDATE beckon.dkim_key SET state = 'active' WHERE project_id = $1 AND domain_id = $2`, [
      projectId,
      domain.id,
    ]);
  });
}

/** Sends some emails of every kind, kills the server before any answer, and restarts it. */
async function killOnce({ db, server, kinds }: World, kill: number): Promise<void> {
  const batches = await Promise.all(kinds.map((kind) => beginBatch(db, kind, kill)));
  while (batches.some(({ users }, n) => users.some((user) => !kinds[n]?.emails.has(user)))) await pause(5);
  await server.killServer();
  for (const [n, { users }] of batches.entries()) {
    const kind = kinds[n];
    if (!kind) continue;
    kind.kills += 1;
    await applyGroups(db, kind, users);
  }
  await server.start();
}

async function beginBatch(db: Database, kind: KindWorld, kill: number): Promise<{ users: string[] }> {
  const drafts = kind.drafts.slice(kill * GROUPS.length, (kill + 1) * GROUPS.length);
  const rows = await db.query<{ id: string; user: string; address: string }>(
    `SELECT d.id, d.external_user_id AS user, e.email AS address FROM beckon.draft d
     JOIN beckon.person_email e ON e.project_id = d.project_id AND e.external_user_id = d.external_user_id
     WHERE d.project_id = $1 AND d.id = ANY ($2::uuid[])`,
    [kind.projectId, drafts],
  );
  const order = new Map(rows.map(({ address }, n) => [address, n]));
  kind.fake.decide = (email) => {
    const known = kind.emails.get(email.to);
    if (known) {
      known.submissions += 1;
      known.contents.add(email.content);
      // Some questions get no answer either, so a kill may hit them too.
      return known.submissions === 2 && kill % 4 === 0 ? 'hang' : 'accept';
    }
    const n = order.get(email.to) ?? 0;
    const isAccepted = (n + kill) % 2 === 0;
    const group = GROUPS[n % GROUPS.length] ?? 'settled';
    kind.emails.set(email.to, { group, isAccepted, contents: new Set([email.content]), submissions: 1 });
    return isAccepted ? 'hang_after' : 'hang';
  };
  await letFallDue(db, kind.projectId, drafts);
  return { users: rows.map(({ address }) => address) };
}

/** Unsubscribes some recipients, and lets the window of some emails pass, before anything is settled. */
async function applyGroups(
  db: Database,
  { projectId, fake, emails }: KindWorld,
  users: string[],
): Promise<void> {
  fake.forgets = ({ to }) => emails.get(to)?.group === 'after_window';
  for (const value of users.filter((user) => emails.get(user)?.group === 'unsubscribed'))
    await suppress(db, {
      projectId,
      kind: 'email',
      value,
      reason: 'unsubscribed',
      until: null,
      actor: 'test',
    });
  await db.query(
    `UPDATE beckon.email SET ask_until = now() - interval '1 second' WHERE project_id = $1 AND address = ANY ($2::text[])
       AND ask_until IS NOT NULL`,
    [projectId, users.filter((user) => emails.get(user)?.group === 'after_window')],
  );
}

const SETTLED_WITHIN_MS = 180_000;
const POLL_MS = 250;

/** Waits until every email has a result, no relay is to be asked again, and the reports of the providers were applied. */
async function settleAll({ db, server, kinds }: World): Promise<void> {
  for (const { fake, emails } of kinds)
    fake.decide = (email) => {
      const known = emails.get(email.to);
      if (known) known.submissions += 1;
      known?.contents.add(email.content);
      return 'accept';
    };
  const until = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    await db.query(`UPDATE beckon.email SET next_at = now() WHERE next_at > now() AND state = 'submitting'`);
    await db.query(`UPDATE beckon.email SET ask_at = now() WHERE ask_at > now()`);
    const [row] = await db.query<{ left: number }>(
      `SELECT count(*)::int AS left FROM beckon.email WHERE next_at IS NOT NULL OR ask_at IS NOT NULL`,
    );
    if (row?.left === 0) break;
    if (Date.now() > until) throw new Error(`${row?.left} emails are not settled`);
    await pause(POLL_MS);
  }
  for (const kind of kinds) await reportDeliveries(server, kind);
}

/** Brevo does not repeat its answer, so only its own report settles an email that it had accepted. */
async function reportDeliveries(server: Survivor, { kind, fake, relay }: KindWorld): Promise<void> {
  if (kind !== 'brevo') return;
  for (const [n, email] of fake.emails.entries()) {
    const event = { id: `delivered-${n}`, kind: 'delivered', email, text: '250 ok', at: Date.now() } as const;
    const { headers, body } = fake.provider.hook(event, Date.now());
    const answer = await fetch(`${server.url}/hooks/relays/${relay.id}`, {
      method: 'POST',
      headers: { ...headers, 'x-forwarded-proto': 'https' },
      body,
    });
    if (answer.status !== 200) throw new Error(`a report was answered with ${answer.status}`);
  }
}

async function examine(
  db: Database,
  { kind, fake, projectId, emails, kills }: KindWorld,
): Promise<KindFindings> {
  const rows = await db.query<{ address: string; state: string; reasons: string[] }>(
    `SELECT m.address, m.state, ARRAY(SELECT v.reason FROM beckon.draft_move v
       WHERE v.project_id = m.project_id AND v.draft_id = m.draft_id AND v.action = 'keep_unknown') AS reasons
     FROM beckon.email m WHERE m.project_id = $1`,
    [projectId],
  );
  const hasKey = RELAY_ADAPTERS[kind].idempotencyWindowMs !== null;
  const found: KindFindings = {
    kind,
    hasKey,
    kills,
    emails: rows.length,
    acceptedBefore: [...emails.values()].filter(({ isAccepted }) => isAccepted).length,
    asked: [...emails.values()].reduce((sum, { submissions }) => sum + submissions - 1, 0),
    states: {},
    doubled: [],
    against: [],
    wrong: [],
  };
  const copies = Map.groupBy(fake.emails, ({ to }) => to);
  for (const { address, state, reasons } of rows) {
    found.states[state] = (found.states[state] ?? 0) + 1;
    const email = emails.get(address);
    if (!email) continue;
    const evidence = `${address}: ${state} (${reasons.join(', ')}), ${email.group}, ${email.submissions} requests`;
    if ((copies.get(address)?.length ?? 0) > 1 || email.contents.size > 1) found.doubled.push(evidence);
    if (email.submissions > 1 && (!hasKey || email.group !== 'settled')) found.against.push(evidence);
    if (!isRight({ kind, hasKey, state, reasons, email })) found.wrong.push(evidence);
  }
  return found;
}

type Examined = { kind: HttpRelayKind; hasKey: boolean; state: string; reasons: string[]; email: Email };

/** A report of its provider settles every email of Brevo that was accepted, also those that may not be asked about. */
function isRight({ kind, hasKey, state, reasons, email: { group, isAccepted } }: Examined): boolean {
  if (!hasKey) return state === 'unknown';
  if (group === 'settled') return state === 'sent';
  const reason = group === 'unsubscribed' ? 'suppressed' : 'window_closed';
  const isSettledByReport = kind === 'brevo' && isAccepted;
  return state === (isSettledByReport ? 'sent' : 'unknown') && reasons.includes(reason);
}
