import {
  demotes,
  ENGINE,
  isRefused,
  LADDER_WINDOWS,
  listOpenOfPeople,
  type DraftChange,
  holdOrCancelReplied as repliedTo,
} from '../../drafts/index.ts';
import type { Outcome } from '../outcome.ts';
import { countForRule, countRefused, findSoftBounces, type OutcomeEmail } from '../reads.ts';
import { lockUnknown, resolveUnknown } from './resolve-unknown.ts';
import { liftIn, suppressIn } from '../suppressions/suppress.ts';
import {
  demoteRule,
  endRun,
  findOpenRuns,
  findRule,
  loadProjectModels,
  updateRuns,
} from '../../rules/index.ts';
import {
  changeModes,
  findSending,
  pauseDomain,
  type SuppressionReason,
  writeMoves,
} from '../../sending/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { readProjectLock } from '../../../platform/locks/project-lock.ts';
import { incrementModel } from '../../../platform/locks/store.ts';
import type { LogEvent, LogFields } from '../../../platform/log.ts';
import { addSuppressions } from '../suppressions/store.ts';
import { BOUNCE_REASONS, type Suppression } from '../suppressions/entries.ts';

/** New outcomes of one project whose consequences are applied. */
type NewOutcomes = {
  projectId: number;
  emails: Map<string, OutcomeEmail>;
  now: number;
  outcomes: Outcome[];
};

/** A log line about the consequences of an outcome. */
export type Note = { event: LogEvent<'warn'> } & LogFields;

/** Returns true for a bounce of the given class that certainly belongs to its email. */
function isBounce({ type, class: kind, detail }: Outcome, of: string): boolean {
  return type === 'email.bounced' && kind === '' && detail['bounce_class'] === of;
}

/**
 * Applies the consequences of bounces, replies and unsubscribes. The caller holds the project lock and the send lock. `reported` includes
 * outcomes that were known before: a user who unsubscribes again may have come back in between.
 */
export async function applyConsequences(
  tx: Tx,
  { reported, ...concerned }: NewOutcomes & { reported: Outcome[] },
): Promise<Note[]> {
  const { projectId, emails, now, outcomes } = concerned;
  await suppressUnsubscribed(tx, { ...concerned, outcomes: reported });
  await suppressHard(tx, concerned);
  await suppressSoft(tx, concerned);
  const replied = outcomes.filter(({ type }) => type === 'email.replied');
  await liftBounceSuppressions(tx, projectId, { engaged: replied, emails, now });
  await endForReplies(tx, { projectId, replied, now });
  const unknown = await lockUnknown(tx, reported, emails);
  await resolveUnknown(tx, { outcomes: reported, unknown, now });
  return [...(await demoteRules(tx, concerned)), ...(await pauseDomains(tx, concerned))];
}

/** Lifts bounce suppressions of addresses whose users open, click or reply, because they receive email after all. */
export async function liftBounceSuppressions(
  tx: Tx,
  projectId: number,
  { engaged, emails, now }: { engaged: Outcome[] } & Pick<NewOutcomes, 'emails' | 'now'>,
): Promise<void> {
  const addresses = new Set(engaged.flatMap(({ emailId }) => emails.get(emailId)?.address ?? []));
  if (addresses.size === 0) return;
  const targets = [...addresses].toSorted().map((value) => ({ projectId, kind: 'email' as const, value }));
  await liftIn(tx, projectId, { targets, reasons: BOUNCE_REASONS, now });
}

/** Suppresses both the address and the user. A new address does not bring the user back, and all users of a shared address stop. */
async function suppressUnsubscribed(
  tx: Tx,
  { projectId, emails, now, outcomes }: NewOutcomes,
): Promise<void> {
  const suppressions = outcomes
    .filter(({ type }) => type === 'email.unsubscribed')
    .flatMap(({ emailId, userId, class: kind }) => {
      const reason: SuppressionReason = kind === 'complaint' ? 'complained' : 'unsubscribed';
      const address = emails.get(emailId)?.address;
      return [
        newSuppression({ kind: 'user', value: userId, reason }, now),
        ...(address === undefined ? [] : [newSuppression({ kind: 'email', value: address, reason }, now)]),
      ];
    });
  if (suppressions.length > 0) await suppressIn(tx, projectId, { suppressions, now, actor: ENGINE });
}

type NewSuppression = Omit<Suppression, 'projectId'>;

function newSuppression(
  what: Pick<NewSuppression, 'kind' | 'value' | 'reason'>,
  now: number,
): NewSuppression {
  return { ...what, until: null, createdAt: now, createdBy: ENGINE };
}

/** Suppresses addresses that do not exist, and ends what was under way to them. */
async function suppressHard(tx: Tx, { projectId, emails, now, outcomes }: NewOutcomes): Promise<void> {
  const suppressions = outcomes
    .filter((outcome) => isBounce(outcome, 'hard'))
    .flatMap(({ emailId }) => {
      const address = emails.get(emailId)?.address;
      return address === undefined
        ? []
        : [newSuppression({ kind: 'email', value: address, reason: 'hard_bounce' }, now)];
    });
  if (suppressions.length > 0)
    await suppressIn(tx, projectId, { suppressions, now, actor: ENGINE, ends: 'bounced' });
}

const SOFT_IN_A_ROW = 5;
const SOFT_FOR_MS = 3 * 86_400_000;
const SOFT_SUPPRESSES_MS = 30 * 86_400_000;

/**
 * Suppresses an address for 30 days after its last five emails, over at least three days, all bounced softly: the mailbox is full or
 * unavailable. Runs and drafts under way wait.
 */
async function suppressSoft(tx: Tx, { projectId, emails, now, outcomes }: NewOutcomes): Promise<void> {
  const suppressed: Suppression[] = [];
  for (const { userId, emailId } of outcomes.filter((outcome) => isBounce(outcome, 'soft'))) {
    const address = emails.get(emailId)?.address;
    if (address === undefined) continue;
    const found = await findSoftBounces(tx, { projectId, userId, address, emails: SOFT_IN_A_ROW });
    if (!found || found.lastAt - found.firstAt < SOFT_FOR_MS) continue;
    const until = now + SOFT_SUPPRESSES_MS;
    const what = { kind: 'email', value: address, reason: 'soft_bounces' } as const;
    suppressed.push({ ...newSuppression(what, now), projectId, until });
  }
  await addSuppressions(tx, suppressed);
}

/**
 * Turns off autopilot for a rule with too many complaints, unsubscribes or hard bounces, and for its open drafts that no member has
 * touched. Autopilot stays off until a member turns it on again; the counts then start from zero.
 */
async function demoteRules(tx: Tx, { projectId, now, outcomes }: NewOutcomes): Promise<Note[]> {
  const bad = outcomes.filter(
    (outcome) => outcome.type === 'email.unsubscribed' || isBounce(outcome, 'hard'),
  );
  const notes: Note[] = [];
  for (const ruleId of [...new Set(bad.map((outcome) => outcome.ruleId))].toSorted()) {
    const rule = await findRule(tx, { projectId, reference: ruleId });
    if (rule.mode !== 'autopilot') continue;
    const since = rule.demotedAt ?? 0;
    const demotion = demotes(await countForRule(tx, { projectId, ruleId, since, windows: LADDER_WINDOWS }));
    if (!demotion) continue;
    await demoteRule(tx, { projectId, ruleId, why: demotion.why, now });
    await incrementModel(tx, projectId);
    const { expiresAfterMs } = rule.definition;
    const mode = { ruleId, autopilotMs: null, includeOpen: false, expiresAfterMs, now, reason: 'demoted' };
    const { moved: drafts } = await changeModes(tx, projectId, [mode]);
    notes.push({ event: 'rule.autopilot_disabled', rule: rule.name, reason: demotion.why, drafts });
  }
  return notes;
}

/**
 * Stops automation for users who replied, because a person should answer them. Ends their runs, cancels untouched drafts, and holds drafts
 * that a member approved or edited. Rules with `on_reply: false` continue.
 */
async function endForReplies(
  tx: Tx,
  { projectId, replied, now }: { projectId: number; replied: Outcome[]; now: number },
): Promise<void> {
  if (replied.length === 0) return;
  const people = [...new Set(replied.map(({ userId }) => userId))].map((userId) => ({ projectId, userId }));
  const drafts = await listOpenOfPeople(tx, people);
  const runs = await findOpenRuns(tx, people);
  if (drafts.length === 0 && runs.length === 0) return;
  const model = (await loadProjectModels(tx, [await readProjectLock(tx, projectId)], { now })).get(projectId);
  const endsBy = ({ ruleId, version }: { ruleId: string; version: number }): boolean =>
    model?.rules.version(ruleId, version)?.definition.exits.onReply ?? true;
  const moved = drafts.filter(endsBy).flatMap((draft): DraftChange[] => {
    const decided = repliedTo(draft, { now });
    return isRefused(decided) ? [] : [decided];
  });
  await writeMoves(tx, moved);
  const ended = runs.filter(endsBy).map((run) => endRun(run, 'replied', now));
  await updateRuns(tx, ended);
}

const EMAILS = 100;
const REFUSED_MAX = 5;

/**
 * Pauses a domain after too many policy rejections, because every further email would harm it more. A member has to resume it; the count
 * then starts from zero.
 */
async function pauseDomains(tx: Tx, { projectId, now, outcomes, emails }: NewOutcomes): Promise<Note[]> {
  const refused = outcomes.filter((outcome) => isBounce(outcome, 'policy'));
  const names = new Set(refused.flatMap(({ emailId }) => emails.get(emailId)?.domain ?? []));
  const notes: Note[] = [];
  for (const name of [...names].toSorted()) {
    const domain = await findSending(tx, { projectId, name });
    if (!domain || domain.pausedAt !== null) continue;
    const since = domain.resumedAt ?? 0;
    const { count, of } = await countRefused(tx, { projectId, domain: name, since, emails: EMAILS });
    if (count <= REFUSED_MAX) continue;
    const reason = `${count} of its last ${of} emails were rejected because of their content or sender`;
    await pauseDomain(tx, { projectId, id: domain.id, reason, at: now });
    notes.push({ event: 'domain.paused', domain: domain.name, reason });
  }
  return notes;
}
