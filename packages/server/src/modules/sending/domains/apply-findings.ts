import { afterMoves, carryOn, type DkimKey, type KeyMove } from './dkim-key.ts';
import type { MailSettings, SendingDomain } from './domain.ts';
import { dkimNameOf, recordsOf } from './records.ts';
import { afterLook, nextCheckAt, outcomeOf } from './state.ts';
import type { Finding } from './findings.ts';

export type Settled = { domain: SendingDomain; keys: DkimKey[]; moves: KeyMove[] };

/** Applies the result of a DNS check to a domain and its keys. */
export function settle(
  { domain, keys }: { domain: SendingDomain; keys: DkimKey[] },
  findings: Finding[],
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
