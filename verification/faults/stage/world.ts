import { deriveKey } from '../../../packages/server/src/platform/crypto/hash.ts';
import { idMaker, type NewId } from '../../../packages/server/src/platform/ids.ts';
import { createEncrypter, type Encrypter } from '../../../packages/server/src/platform/crypto/encrypt.ts';
import type { MailSettings } from '../../../packages/server/src/modules/sending/domains/domain.ts';
import { createKey } from '../../../packages/server/src/modules/ingest/keys/change-key.ts';
import { createProject } from '../../../packages/server/src/modules/administration/create-project.ts';
import { createRule } from '../../../packages/server/src/modules/rules/write-rule.ts';
import { addDomain } from '../../../packages/server/src/modules/sending/domains/change-domain.ts';
import { checkDomainNow } from '../../../packages/server/src/modules/sending/domains/check-domain.ts';
import { requireDomain } from '../../../packages/server/src/modules/sending/domains/domain-view.ts';
import { setSettings } from '../../../packages/server/src/modules/administration/set-settings.ts';
import { addRelay, useRelay } from '../../../packages/server/src/modules/sending/relays/change-relay.ts';
import { encryptSecrets } from '../../../packages/server/src/modules/sending/relays/secrets.ts';
import { RELAY_ADAPTERS } from '../../../packages/server/src/platform/relays/adapters.ts';
import { relayKinds } from '../../../packages/server/src/platform/relays/kinds.ts';
import { postmarkProvider } from '../../../packages/server/testing/servers/relays/postmark.ts';
import { resendProvider } from '../../../packages/server/testing/servers/relays/resend.ts';
import { addEndpoint } from '../../../packages/server/src/modules/webhooks/endpoints/change-endpoint.ts';
import type { Database } from '../../../packages/server/src/platform/db/database.ts';
import { createResolver, type Resolver } from '../../../packages/server/src/platform/dns/resolver.ts';
import { createOutbound } from '../../../packages/server/src/platform/outbound/outbound.ts';
import type { DnsServer } from '../../../packages/server/testing/servers/dns-server.ts';
import type { World } from '../journal.ts';

/** Known only to the processes of this run. */
export const SECRET = 'a secret of this run of faults';
export const MAIL: MailSettings = { mailDomain: 'in.beckon.test', spfInclude: null };
export const TOKEN_KEYS = [deriveKey(SECRET, 'email tokens')] as const;
/** The event that triggers an email. Each one triggers one. */
export const ORDER_EVENT = 'order_placed';

/**
 * The subject that a project tests, besides the load that all have.
 *
 * `fast`, `slow`: emails are sent automatically after a few or some more seconds, in which members may act on them. `reviewed`: each draft
 * waits for approval. `quiet`: quiet hours begin and end during the run. `unverified`: its domain fails now and then, and is verified again.
 * `paused`: it is paused now and then. `relayed`: it has two domains, each with the relay of a provider, and is moved between them.
 */
export type Kind = 'fast' | 'slow' | 'reviewed' | 'quiet' | 'unverified' | 'paused' | 'relayed';
const KINDS: Kind[] = [
  ...Array.from({ length: 5 }, (): Kind => 'fast'),
  'slow',
  'slow',
  'reviewed',
  'reviewed',
  'quiet',
  'unverified',
  'paused',
  'relayed',
];
/** One provider that does not recognize a repeated request, and one that does. The project begins with the first one. */
export const RELAY_KINDS = ['postmark', 'resend'] as const;
const AUTOPILOT: Record<Kind, string> = {
  fast: '3s',
  slow: '20s',
  reviewed: 'draft',
  quiet: '3s',
  unverified: '5s',
  paused: '5s',
  relayed: '3s',
};
const ENDPOINT_LIMITS = { perSecond: 200, inFlightMax: 20 };
const MINUTE_MS = 60_000;
const QUIET_SHARE = 0.4;

export type WorldDeps = {
  db: Database;
  dns: DnsServer;
  newId: NewId;
  encrypter: Encrypter;
  resolver: Resolver;
  pepper: Uint8Array;
};
export type WorldOptions = {
  seed: number;
  minutes: number;
  databaseUrl: string;
  hooksPort: number;
  /** The ports at which the providers are reached, by kind. */
  relayPorts: Record<string, number>;
};

export function worldDeps(db: Database, dns: DnsServer): WorldDeps {
  return {
    db,
    dns,
    newId: idMaker(db.clock),
    encrypter: createEncrypter(SECRET, null, 'secrets at rest'),
    resolver: createResolver({ servers: dns.servers }),
    pepper: deriveKey(SECRET, 'api-key pepper'),
  };
}

export async function makeWorld(deps: WorldDeps, options: WorldOptions): Promise<World> {
  const world: World = {
    seed: options.seed,
    startedAt: Date.now(),
    databaseUrl: options.databaseUrl,
    projects: [],
    endpoints: [],
    relays: {},
  };
  for (const [n, kind] of KINDS.entries()) await addProject(deps, { world, kind, n, ...options });
  return world;
}

type ProjectOptions = WorldOptions & { world: World; kind: Kind; n: number };

async function addProject(
  deps: WorldDeps,
  { world, kind, n, minutes, hooksPort, relayPorts }: ProjectOptions,
): Promise<void> {
  const { db } = deps;
  const name = `${kind}-${n}`;
  const { id: projectId } = await createProject(db, { name });
  const domain = `mail.p${projectId}.test`;
  const quietHours = kind === 'quiet' ? hoursOf(Date.now(), minutes) : 'off';
  await addDomain({ ...deps, mail: MAIL }, { projectId, name: domain, warm: true });
  await verifyDomain(deps, { projectId, name: domain });
  await setSettings(db, projectId, {
    autopilot: AUTOPILOT[kind],
    quiet_hours: quietHours,
    frequency_cap: 'off',
    throttle: 'off',
    from_name: 'Acme',
    from_address: `hello@${domain}`,
    postal_address: '1 Main Street',
  });
  await createRule(db, { projectId, document: RULE });
  const keys = [await newKey(deps, projectId), await newKey(deps, projectId)];
  const project = { id: String(projectId), name, keys, quietHours, timeZone: 'UTC', kind, domain };
  const other = kind === 'relayed' ? await addRelays(deps, { world, projectId, domain, relayPorts }) : {};
  world.projects.push({ ...project, ...other });
  for (const isGood of [true, false]) {
    const path = `/${projectId}-${isGood ? 'good' : 'bad'}`;
    const url = `https://127.0.0.1:${hooksPort}${path}`;
    const created = await addEndpoint(
      { ...deps, rules: { allowPrivate: true } },
      { projectId, url, ...ENDPOINT_LIMITS },
    );
    world.endpoints.push({
      id: created.endpoint.id,
      project: String(projectId),
      path,
      secret: created.secret,
      isGood,
    });
  }
}

type RelaysOptions = Pick<ProjectOptions, 'world' | 'relayPorts'> & { projectId: number; domain: string };

/** Adds a second domain, and the relay of a provider for each domain. */
async function addRelays(
  deps: WorldDeps,
  { world, projectId, domain, relayPorts }: RelaysOptions,
): Promise<{ otherDomain: string }> {
  const otherDomain = `other.p${projectId}.test`;
  await addDomain({ ...deps, mail: MAIL }, { projectId, name: otherDomain, warm: true });
  await verifyDomain(deps, { projectId, name: otherDomain });
  const kinds = relayKinds(Object.values(RELAY_ADAPTERS));
  for (const [n, kind] of RELAY_KINDS.entries()) {
    const { hook_secret: hookSecret, ...settings } = RELAY_SETTINGS[kind];
    const url = `http://127.0.0.1:${relayPorts[kind]}`;
    const input = { projectId, kind, name: kind, settings: { ...settings, api_url: url } };
    const relay = await addRelay({ ...deps, kinds }, input);
    // The provider signs with a secret of its own, and not with the generated one.
    if (hookSecret !== undefined)
      await deps.db.query(
        `UPDATE beckon.relay SET encrypted_secrets = $3 WHERE project_id = $1 AND id = $2`,
        [
          projectId,
          relay.id,
          encryptSecrets(deps.encrypter, { ...settings, hook_secret: hookSecret }, relay),
        ],
      );
    await useRelay(deps, { projectId, domain: n === 0 ? domain : otherDomain, relay });
    world.relays[kind] = relay.id;
  }
  return { otherDomain };
}

const RELAY_SETTINGS: Record<(typeof RELAY_KINDS)[number], Record<string, string>> = {
  resend: resendProvider().settings,
  postmark: postmarkProvider().settings,
};

const RULE = {
  name: 'order',
  when: { event: ORDER_EVENT },
  enrollment: { once_per: ['order'] },
  exits: { on_reply: false },
  priority: 50,
  steps: [
    {
      draft: {
        subject: 'Your order',
        preheader: 'It is on its way',
        body: 'Hello, [your order](https://acme.test/order) is on its way. See [our plans](https://acme.test/plans).',
      },
    },
  ],
};

export async function newKey(
  { db, pepper }: Pick<WorldDeps, 'db' | 'pepper'>,
  projectId: number,
): Promise<{ id: string; secret: string }> {
  const { id, secret } = await createKey({ db, pepper }, { projectId, label: 'load' });
  return { id, secret };
}

type DomainRef = { projectId: number; name: string };

/** Publishes the DNS records that the product requires, then runs its check. */
export async function verifyDomain(deps: WorldDeps, domainRef: DomainRef): Promise<void> {
  const { records } = await checkDomain(deps, domainRef);
  for (const { type, name, value } of records) deps.dns.set(type, name, [value]);
  const { domain } = await checkDomain(deps, domainRef);
  if (domain.state !== 'verified') throw new Error(`${domainRef.name} is ${domain.state}`);
}

const CHECKS_TO_FAIL = 3;

/** Removes the records for longer than an hour, so that the domain fails. The hour is subtracted in the database. */
export async function failDomain(deps: WorldDeps, domainRef: DomainRef): Promise<void> {
  const { records } = await checkDomain(deps, domainRef);
  for (const { type, name } of records) deps.dns.remove(type, name);
  const { id } = await requireDomain(deps.db, domainRef);
  for (let n = 0; n <= CHECKS_TO_FAIL; n += 1) {
    const { domain } = await checkDomain(deps, domainRef);
    if (domain.state === 'failed') return;
    await deps.db.query(
      `UPDATE beckon.sending_domain SET failing_since = now() - interval '2 hours' WHERE project_id = $1 AND id = $2 AND failing_since IS NOT NULL`,
      [domainRef.projectId, id],
    );
  }
  throw new Error(`${domainRef.name} does not fail`);
}

function checkDomain(deps: WorldDeps, domainRef: DomainRef): ReturnType<typeof checkDomainNow> {
  const openOutbound = (): ReturnType<typeof createOutbound> =>
    createOutbound({ allowPrivate: true, resolver: deps.resolver });
  return checkDomainNow({ ...deps, mail: MAIL, tokenKeys: TOKEN_KEYS, openOutbound }, domainRef);
}

/** Returns quiet hours in whole minutes that begin at the second full minute from now. */
function hoursOf(now: number, minutes: number): string {
  const start = now + 2 * MINUTE_MS;
  const end = start + Math.max(1, Math.round(minutes * QUIET_SHARE)) * MINUTE_MS;
  const clock = (at: number): string => new Date(at).toISOString().slice(11, 16);
  return `${clock(start)}-${clock(end)}`;
}
