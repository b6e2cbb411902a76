import { askHeldAgain } from '../../drafts/index.ts';
import {
  dkimNameOf,
  judge,
  type Looked,
  questionsOf,
  type QuestionType,
  recordsOf,
  ROUNDS_MAX,
} from './records.ts';
import { afterMoves, carryOn, type DkimKey, type KeyMove } from './dkim-key.ts';
import { type DomainPlace, type DomainView, requireDomain, showDomain, viewOf } from './domain-view.ts';
import { type DomainState, type MailSettings, maySend, type SendingDomain } from './domain.ts';
import type { DomainRecord, DnsRecordFinding } from './findings.ts';
import { findDomainById, listKeys, lockDomain } from './reads.ts';
import { afterLook, nextCheckAt, outcomeOf } from './state.ts';
import { updateDomain, updateKeys } from './store.ts';
import { probeDomain } from './tracking.ts';
import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { DnsAnswer, Resolver } from '../../../platform/dns/resolver.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';

type LookDeps = CheckDeps & { tokenKeys: TokenKeys; openOutbound: () => Outbound };

/** Checks a domain on request: its DNS records, and its tracking host if it has one. */
export async function lookAtDomain(deps: LookDeps, place: DomainPlace): Promise<DomainView> {
  const { db, tokenKeys, openOutbound, mail } = deps;
  const found = await requireDomain(db, place);
  await checkDomain(deps, found);
  if (found.tracking) {
    const outbound = openOutbound();
    try {
      await probeDomain({ db, tokenKeys, outbound }, found);
    } finally {
      outbound.close();
    }
  }
  return showDomain(db, place, mail);
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
  { db, resolver, mail }: CheckDeps,
  place: Pick<SendingDomain, 'projectId' | 'id'>,
): Promise<Checked | null> {
  const { projectId, id } = place;
  const known = await findDomainById(db, place);
  if (!known) return null;
  const knownKeys = await listKeys(db, projectId, [id]);
  const records = recordsOf(known, knownKeys, mail);
  const looked = await lookUp(resolver, records);
  const findings = records.map((record) => judge(record, looked));
  return db.transaction(async (tx) => {
    const domain = await lockDomain(tx, place);
    if (!domain) return null;
    const keys = await listKeys(tx, projectId, [id]);
    const before = domain.state;
    const isOutrun = domain.checkedAt !== known.checkedAt || !areSameKeys(keys, knownKeys);
    if (isOutrun) return { view: viewOf(domain, keys, mail), before };
    const now = db.clock.now();
    const settled = settle({ domain, keys }, findings, { mail, now });
    await updateDomain(tx, settled.domain);
    await updateKeys(tx, { projectId, domainId: id }, { moves: settled.moves, now });
    if (maySend(settled.domain) && !maySend(domain))
      await askHeldAgain(tx, { projectId, reasons: HELD_FOR_DOMAIN, now });
    return { view: viewOf(settled.domain, settled.keys, mail), before };
  });
}

function areSameKeys(some: DkimKey[], others: DkimKey[]): boolean {
  const nameOf = ({ slot, createdAt }: DkimKey): string => `${slot} ${createdAt}`;
  const names = new Set(others.map(nameOf));
  return some.length === others.length && some.every((key) => names.has(nameOf(key)));
}

type Settled = { domain: SendingDomain; keys: DkimKey[]; moves: KeyMove[] };

/** Applies the result of a DNS check to a domain and its keys. */
function settle(
  { domain, keys }: { domain: SendingDomain; keys: DkimKey[] },
  findings: DnsRecordFinding[],
  { mail, now }: { mail: MailSettings; now: number },
): Settled {
  const nameOf = (key: DkimKey): string => dkimNameOf(key, domain.name);
  const verdicts = new Map(findings.map(({ name, verdict }) => [name, verdict]));
  const moves = carryOn(keys, (key) => verdicts.get(nameOf(key)) ?? 'unknown', now);
  const kept = afterMoves(keys, moves, now);
  // Uses the keys after their moves, so that a key that signs from now on is the one that counts.
  const records = recordsOf(domain, kept, mail);
  const outcome = outcomeOf(records, findings);
  // Never repeats a value, because other processes detect by it that a check has happened since.
  const checkedAt = Math.max(now, (domain.checkedAt ?? 0) + 1);
  const found = findings.filter(({ name }) => records.some((record) => record.name === name));
  const looked = { ...afterLook(domain, outcome, now), findings: found, checkedAt };
  return {
    domain: { ...looked, nextCheckAt: nextCheckAt(looked, kept, { outcome, now }) },
    keys: kept,
    moves,
  };
}

type Asked = Pick<Resolver, 'txt' | 'mx' | 'cname'>;

/**
 * Looks up everything in DNS that the records are judged by. Never call it within a transaction, because a silent name server takes long.
 */
export async function lookUp(resolver: Asked, records: DomainRecord[]): Promise<Looked> {
  const answers = new Map<string, DnsAnswer>();
  const looked: Looked = (type, name) => answers.get(keyOf(type, name));
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const questions = questionsOf(records, looked);
    if (questions.length === 0) break;
    await Promise.all(
      questions.map(async ({ type, name }) => {
        answers.set(keyOf(type, name), await ask(resolver, type, name));
      }),
    );
  }
  return looked;
}

function keyOf(type: QuestionType, name: string): string {
  return `${type} ${name}`;
}

function ask(resolver: Asked, type: QuestionType, name: string): Promise<DnsAnswer> {
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
