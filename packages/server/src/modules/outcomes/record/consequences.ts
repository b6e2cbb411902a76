import { ENGINE } from '../../drafts/index.ts';
import { findSoftBounces } from '../reads.ts';
import type { Outcome } from '../outcome.ts';
import {
  addSuppressions,
  LIFTED_BY_LIFE,
  type Suppression,
  type SuppressionReason,
} from '../../sending/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { liftIn, suppressIn } from '../suppressions/suppress.ts';
import { type Concerned, isBounce, type Note } from './new-outcomes.ts';
import { demoteRules } from './demote-rules.ts';
import { endForReplies } from './end-for-replies.ts';
import { pauseDomains } from './pause-domains.ts';
import { lockUnknown, resolveUnknown } from './resolve-unknown.ts';

/**
 * Applies the consequences of bounces, replies and unsubscribes. The caller holds the project lock and the send lock. `said` includes
 * outcomes that were known before: a user who unsubscribes again may have come back in between.
 */
export async function drawConsequences(
  tx: Tx,
  { said, ...concerned }: Concerned & { said: Outcome[] },
): Promise<Note[]> {
  const { projectId, letters, now, outcomes } = concerned;
  await suppressUnsubscribed(tx, { ...concerned, outcomes: said });
  await suppressHard(tx, concerned);
  await suppressSoft(tx, concerned);
  const replied = outcomes.filter(({ type }) => type === 'email.replied');
  await liftByLife(tx, projectId, { alive: replied, letters, now });
  await endForReplies(tx, { projectId, replied, now });
  const unknown = await lockUnknown(tx, said, letters);
  await resolveUnknown(tx, { outcomes: said, unknown, now });
  return [...(await demoteRules(tx, concerned)), ...(await pauseDomains(tx, concerned))];
}

/** Lifts bounce suppressions of addresses whose users open, click or reply, because they receive email after all. */
export async function liftByLife(
  tx: Tx,
  projectId: number,
  { alive, letters, now }: { alive: Outcome[] } & Pick<Concerned, 'letters' | 'now'>,
): Promise<void> {
  const addresses = new Set(alive.flatMap(({ messageId }) => letters.get(messageId)?.address ?? []));
  if (addresses.size === 0) return;
  const places = [...addresses].toSorted().map((value) => ({ projectId, kind: 'email' as const, value }));
  await liftIn(tx, projectId, { places, reasons: LIFTED_BY_LIFE, now });
}

/** Suppresses both the address and the user. A new address does not bring the user back, and all users of a shared address stop. */
async function suppressUnsubscribed(tx: Tx, { projectId, letters, now, outcomes }: Concerned): Promise<void> {
  const wanted = outcomes
    .filter(({ type }) => type === 'email.unsubscribed')
    .flatMap(({ messageId, userId, class: kind }) => {
      const reason: SuppressionReason = kind === 'complaint' ? 'complained' : 'unsubscribed';
      const address = letters.get(messageId)?.address;
      return [
        wish({ kind: 'user', value: userId, reason }, now),
        ...(address === undefined ? [] : [wish({ kind: 'email', value: address, reason }, now)]),
      ];
    });
  if (wanted.length > 0) await suppressIn(tx, projectId, { wanted, now, actor: ENGINE });
}

type Wish = Omit<Suppression, 'projectId'>;

function wish(what: Pick<Wish, 'kind' | 'value' | 'reason'>, now: number): Wish {
  return { ...what, until: null, createdAt: now, createdBy: ENGINE };
}

/** Suppresses addresses that do not exist, and ends what was under way to them. */
async function suppressHard(tx: Tx, { projectId, letters, now, outcomes }: Concerned): Promise<void> {
  const wanted = outcomes
    .filter((one) => isBounce(one, 'hard'))
    .flatMap(({ messageId }) => {
      const address = letters.get(messageId)?.address;
      return address === undefined
        ? []
        : [wish({ kind: 'email', value: address, reason: 'hard_bounce' }, now)];
    });
  if (wanted.length > 0) await suppressIn(tx, projectId, { wanted, now, actor: ENGINE, ends: 'bounced' });
}

const SOFT_IN_A_ROW = 5;
const SOFT_FOR_MS = 3 * 86_400_000;
const SOFT_SUPPRESSES_MS = 30 * 86_400_000;

/**
 * Suppresses an address for 30 days after its last five emails, over at least three days, all bounced softly: the mailbox is full or
 * unavailable. Runs and drafts under way wait.
 */
async function suppressSoft(tx: Tx, { projectId, letters, now, outcomes }: Concerned): Promise<void> {
  const suppressed: Suppression[] = [];
  for (const { userId, messageId } of outcomes.filter((one) => isBounce(one, 'soft'))) {
    const address = letters.get(messageId)?.address;
    if (address === undefined) continue;
    const found = await findSoftBounces(tx, { projectId, userId, address, letters: SOFT_IN_A_ROW });
    if (!found || found.lastAt - found.firstAt < SOFT_FOR_MS) continue;
    const until = now + SOFT_SUPPRESSES_MS;
    const what = { kind: 'email', value: address, reason: 'soft_bounces' } as const;
    suppressed.push({ ...wish(what, now), projectId, until });
  }
  await addSuppressions(tx, suppressed);
}
