import { recheckHeld } from '../../drafts/index.ts';
import {
  dkimNameOf,
  assessRecord,
  type DnsLookup,
  pendingQueries,
  type DnsQueryType,
  recordsOf,
  ROUNDS_MAX,
} from './records.ts';
import { afterMoves, keyMoves, type DkimKey, type KeyMove } from './dkim-key.ts';
import { type DomainRef, type DomainView, requireDomain, showDomain, viewOf } from './domain-view.ts';
import { type DomainState, type MailSettings, maySend, type SendingDomain } from './domain.ts';
import type { DomainRecord, DnsRecordFinding } from './findings.ts';
import { findDomainById, listKeys, lockDomain } from './reads.ts';
import { mailOfDomain } from './relay-mail.ts';
import { afterCheck, nextCheckAt, outcomeOf } from './state.ts';
import { updateDomain, updateKeys } from './store.ts';
import { probeDomain } from './tracking.ts';
import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { DnsReply, Resolver } from '../../../platform/dns/resolver.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';

type CheckNowDeps = CheckDeps & { tokenKeys: TokenKeys; openOutbound: () => Outbound };

/** Checks a domain on request: its DNS records, and its tracking host if it has one. */
export async function checkDomainNow(deps: CheckNowDeps, ref: DomainRef): Promise<DomainView> {
  const { db, tokenKeys, openOutbound, mail } = deps;
  const found = await requireDomain(db, ref);
  await checkDomain(deps, found);
  if (found.tracking) {
    const outbound = openOutbound();
    try {
      await probeDomain({ db, tokenKeys, outbound }, found);
    } finally {
      outbound.close();
    }
  }
  return showDomain(db, ref, mail);
}

type CheckDeps = {
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;
  resolver: Resolver;
  mail: MailSettings;
};

/** `before`: the previous state. */
type Checked = { view: DomainView; before: DomainState };

/** Hold reasons of drafts while no email could be sent from the domain. */
const HELD_FOR_DOMAIN = ['domain_not_ready', 'no_sender', 'public_url'];

/**
 * Checks the DNS records of a domain and applies the result; returns null if the domain no longer exists. DNS is queried outside any
 * transaction. If another check finished since then, or the keys changed, this result is dropped: of two concurrent checks, one counts.
 */
export async function checkDomain(
  { db, resolver, ...deps }: CheckDeps,
  ref: Pick<SendingDomain, 'projectId' | 'id'>,
): Promise<Checked | null> {
  const { projectId, id } = ref;
  const snapshot = await findDomainById(db, ref);
  if (!snapshot) return null;
  const mail = await mailOfDomain(db, snapshot, deps.mail);
  const snapshotKeys = await listKeys(db, projectId, [id]);
  const records = recordsOf(snapshot, snapshotKeys, mail);
  const lookup = await lookUp(resolver, records);
  const findings = records.map((record) => assessRecord(record, lookup));
  return db.transaction(async (tx) => {
    const domain = await lockDomain(tx, ref);
    if (!domain) return null;
    const keys = await listKeys(tx, projectId, [id]);
    const before = domain.state;
    const isOutrun = domain.checkedAt !== snapshot.checkedAt || !areSameKeys(keys, snapshotKeys);
    if (isOutrun) return { view: viewOf(domain, keys, mail), before };
    const now = db.clock.now();
    const settled = settle({ domain, keys }, findings, { mail, now });
    await updateDomain(tx, settled.domain);
    await updateKeys(tx, { projectId, domainId: id }, { moves: settled.moves, now });
    if (maySend(settled.domain) && !maySend(domain))
      await recheckHeld(tx, { projectId, reasons: HELD_FOR_DOMAIN, now });
    return { view: viewOf(settled.domain, settled.keys, mail), before };
  });
}

function areSameKeys(keys: DkimKey[], others: DkimKey[]): boolean {
  const nameOf = ({ slot, createdAt }: DkimKey): string => `${slot} ${createdAt}`;
  const names = new Set(others.map(nameOf));
  return keys.length === others.length && keys.every((key) => names.has(nameOf(key)));
}

type Settled = { domain: SendingDomain; keys: DkimKey[]; moves: KeyMove[] };

/** Applies the result of a DNS check to a domain and its keys. */
function settle(
  { domain, keys }: { domain: SendingDomain; keys: DkimKey[] },
  findings: DnsRecordFinding[],
  { mail, now }: { mail: MailSettings; now: number },
): Settled {
  const nameOf = (key: DkimKey): string => dkimNameOf(key, domain.name);
  const statuses = new Map(findings.map(({ name, verdict }) => [name, verdict]));
  const moves = keyMoves(keys, (key) => statuses.get(nameOf(key)) ?? 'unknown', now);
  const kept = afterMoves(keys, moves, now);
  // Uses the keys after their moves, so that a key that signs from now on is the one that counts.
  const records = recordsOf(domain, kept, mail);
  const outcome = outcomeOf(records, findings);
  // Never repeats a value, because other processes detect by it that a check has happened since.
  const checkedAt = Math.max(now, (domain.checkedAt ?? 0) + 1);
  const found = findings.filter(({ name }) => records.some((record) => record.name === name));
  const checked = { ...afterCheck(domain, outcome, now), findings: found, checkedAt };
  return {
    domain: { ...checked, nextCheckAt: nextCheckAt(checked, kept, { outcome, now }) },
    keys: kept,
    moves,
  };
}

type DnsResolver = Pick<Resolver, 'txt' | 'mx' | 'cname'>;

/**
 * Looks up everything in DNS that the records are judged by. Never call it within a transaction, because a silent name server takes long.
 */
export async function lookUp(resolver: DnsResolver, records: DomainRecord[]): Promise<DnsLookup> {
  const replies = new Map<string, DnsReply>();
  const lookup: DnsLookup = (type, name) => replies.get(keyOf(type, name));
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const queries = pendingQueries(records, lookup);
    if (queries.length === 0) break;
    await Promise.all(
      queries.map(async ({ type, name }) => {
        replies.set(keyOf(type, name), await queryDns(resolver, type, name));
      }),
    );
  }
  return lookup;
}

function keyOf(type: DnsQueryType, name: string): string {
  return `${type} ${name}`;
}

function queryDns(resolver: DnsResolver, type: DnsQueryType, name: string): Promise<DnsReply> {
  switch (type) {
    case 'TXT':
      return resolver.txt(name);
    case 'MX':
      return resolver.mx(name);
    case 'CNAME':
      return resolver.cname(name);
    default:
      return type satisfies never;
  }
}
