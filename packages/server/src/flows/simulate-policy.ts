import { normaliseAddress } from '../base/address.ts';
import { iso } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { ownZone } from '../base/zone.ts';
import { listQueued, type QueuedLetter } from '../features/drafts/index.ts';
import { findPeople, type Person } from '../features/people/index.ts';
import {
  getSettings,
  readChanges,
  readSettings,
  type SettingName,
  type Settings,
} from '../features/projects/index.ts';
import { type ActiveRule, listRules, loadRules } from '../features/rules/index.ts';
import {
  compare,
  type Comparison,
  type Fate,
  findClaims,
  type GateFacts,
  type GateReason,
  type Policy,
  type Queue,
  type QueuedDraft,
  readBucket,
} from '../features/sending/index.ts';
import { findRefusals, findSuppressions } from '../features/suppressions/index.ts';
import type { Database, Tx } from '../io/db/index.ts';
import { findSender, type Mailroom, policyOf } from './send-drafts/index.ts';
import { inSnapshot } from './snapshot.ts';

/** Under one policy. Moments are texts, as everybody sees them. */
export type PolicyTotals = {
  leaves: number;
  leave_at_once: number;
  held: Partial<Record<GateReason, number>>;
  expires: number;
  median_leaves_at: string | null;
  last_leaves_at: string | null;
};

export type DraftDifference = {
  id: string;
  rule: string;
  external_user_id: string;
  today: ShownFate;
  changed: ShownFate;
};
/** What becomes of a letter, when, and which gate held it last. */
export type ShownFate = { becomes: Fate['kind']; at: string | null; reason: GateReason | null };

export type SimulatedPolicy = {
  drafts: number;
  /** The queue is longer than what was looked at. */
  is_cut: boolean;
  today: PolicyTotals;
  changed: PolicyTotals;
  earlier: number;
  later: number;
  same: number;
  median_shift_ms: number | null;
  /** The first of those that fare otherwise, in the order in which they are due. */
  differences: DraftDifference[];
};

const QUEUE_MAX = 100_000;
const PAGE = 1_000;
const DIFFERENCES_SHOWN = 100;
/** Of all settings, those that the gates look at. */
const OF_POLICY: SettingName[] = ['quiet_hours', 'frequency_cap', 'throttle', 'time_zone', 'paused'];

/** The present queue under the policy of today and under a changed one, through the gate that the sender asks. */
export function simulatePolicy(
  { db, mailroom }: { db: Pick<Database, 'session' | 'clock'>; mailroom: Mailroom },
  { projectId, wanted }: { projectId: number; wanted: Record<string, string> },
): Promise<SimulatedPolicy> {
  return inSnapshot(db, async (tx) => {
    const now = db.clock.now();
    const { settings, texts } = await getSettings(tx, projectId);
    const changes = readChanges(onlyPolicy(wanted));
    const [today, changed] = [settings, readSettings({ ...texts, ...changes })].map(ofProject);
    if (!today || !changed) throw new Error('there are two policies');
    const { letters, isCut } = await readQueue(tx, projectId);
    const { gate: domain } = await findSender(tx, { project: { projectId, name: '', settings } }, mailroom);
    const queue = await gatherQueue(tx, letters, { projectId, now, policies: [today, changed], domain });
    const compared = compare(queue, now, { today, changed });
    const names = new Map((await listRules(tx, projectId)).map(({ id, name }) => [id, name]));
    return {
      drafts: letters.length,
      is_cut: isCut,
      today: totalsOf(
        compared.drafts.map((draft) => draft.today),
        now,
      ),
      changed: totalsOf(
        compared.drafts.map((draft) => draft.changed),
        now,
      ),
      earlier: compared.totals.earlier,
      later: compared.totals.later,
      same: compared.totals.same,
      median_shift_ms: compared.totals.medianShiftMs,
      differences: differencesOf(compared, queue, (ruleId) => names.get(ruleId) ?? ruleId),
    };
  });
}

function ofProject(settings: Settings): Policy {
  return policyOf({ project: { projectId: 0, name: '', settings } });
}

function onlyPolicy(wanted: Record<string, string>): Record<string, string> {
  const others = Object.keys(wanted).filter((name) => !OF_POLICY.some((one) => one === name));
  if (others.length === 0) return wanted;
  throw new Fault('validation_failed', {
    details: others.map((field) => ({
      message: `${field} changes nothing about the queue: there are ${OF_POLICY.join(', ')}`,
      field,
    })),
  });
}

async function readQueue(tx: Tx, projectId: number): Promise<{ letters: QueuedLetter[]; isCut: boolean }> {
  const letters: QueuedLetter[] = [];
  for (let after: string | null = null; ;) {
    const page = await listQueued(tx, { projectId, after, limit: PAGE });
    letters.push(...page.letters);
    after = page.after;
    if (after === null) return { letters, isCut: false };
    if (letters.length >= QUEUE_MAX) return { letters, isCut: true };
  }
}

type QueueAsked = { projectId: number; now: number; policies: Policy[]; domain: GateFacts['domain'] };

async function gatherQueue(tx: Tx, letters: QueuedLetter[], asked: QueueAsked): Promise<Queue> {
  const { projectId, now, policies, domain } = asked;
  const rules = (await loadRules(tx, [projectId], [])).get(projectId);
  const windows = policies.flatMap(({ caps }) => (caps ?? []).map(({ windowMs }) => windowMs));
  const since = now - Math.max(0, ...windows);
  const drafts: QueuedDraft[] = [];
  const claims = new Map<string, number[]>();
  for (let from = 0; from < letters.length; from += PAGE) {
    const some = letters.slice(from, from + PAGE);
    const recipients = await findRecipients(tx, some, {
      projectId,
      now,
      hasTopics: rules?.hasTopics ?? false,
    });
    drafts.push(
      ...some.map((letter) => toQueued(letter, recipients, { rule: rules?.byId.get(letter.ruleId), domain })),
    );
    const addresses = [...new Set([...recipients.values()].flatMap(({ address }) => address ?? []))];
    const found = await findClaims(tx, { projectId, addresses, since });
    for (const [address, moments] of found) claims.set(address, moments);
  }
  drafts.sort((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1));
  return { drafts, claims, bucket: await readBucket(tx, projectId) };
}

type Recipient = Pick<QueuedDraft, 'address' | 'suppression' | 'zone'> & { refused: ReadonlySet<string> };

async function findRecipients(
  tx: Tx,
  letters: QueuedLetter[],
  { projectId, now, hasTopics }: { projectId: number; now: number; hasTopics: boolean },
): Promise<Map<string, Recipient>> {
  const users = [...new Set(letters.map(({ userId }) => userId))];
  const people = await findPeople(
    tx,
    users.map((userId) => ({ projectId, userId })),
  );
  const reached = people.map((person) => ({ projectId, userId: person.userId, address: addressOf(person) }));
  const suppressions = await findSuppressions(tx, reached, now);
  const refusals = hasTopics ? await findRefusals(tx, reached) : [];
  return new Map(
    people.map((person, i) => [
      person.userId,
      {
        address: addressOf(person),
        suppression: suppressions[i] ?? null,
        refused: refusals[i] ?? NONE,
        zone: ownZone([person.traits.get('timezone'), person.traits.get('time_zone')]),
      },
    ]),
  );
}

function addressOf({ email }: Pick<Person, 'email'>): string | null {
  return email === null ? null : normaliseAddress(email);
}

const NONE: ReadonlySet<string> = new Set();
const NOBODY: Recipient = { address: null, suppression: null, refused: NONE, zone: null };

type Standing = { rule: ActiveRule | undefined; domain: GateFacts['domain'] };

function toQueued(
  letter: QueuedLetter,
  recipients: Map<string, Recipient>,
  { rule, domain }: Standing,
): QueuedDraft {
  const { id, ruleId, userId, priority, counts, expiresAt, leavesAt: dueAt } = letter;
  const { refused, ...recipient } = recipients.get(userId) ?? NOBODY;
  const ruleIsOn = (rule?.enabledAt ?? null) !== null;
  const topic = rule?.definition.topic ?? null;
  const refusedTopic = topic !== null && refused.has(topic) ? topic : null;
  const own = { id, ruleId, userId, priority, counts, expiresAt, dueAt };
  return { ...own, ruleIsOn, domain, refusedTopic, ...recipient };
}

function totalsOf(fates: Fate[], now: number): PolicyTotals {
  const moments = fates
    .flatMap((fate) => (fate.kind === 'leaves' ? [fate.leavesAt] : []))
    .toSorted((a, b) => a - b);
  const held: PolicyTotals['held'] = {};
  for (const fate of fates) {
    const reason = fate.kind === 'held' ? fate.reason : fate.after;
    if (reason !== null) held[reason] = (held[reason] ?? 0) + 1;
  }
  return {
    leaves: moments.length,
    leave_at_once: moments.filter((at) => at <= now).length,
    held,
    expires: fates.filter(({ kind }) => kind === 'expires').length,
    median_leaves_at: shownTime(moments[(moments.length - 1) >> 1]),
    last_leaves_at: shownTime(moments.at(-1)),
  };
}

function differencesOf(
  { drafts }: Comparison,
  queue: Queue,
  names: (ruleId: string) => string,
): DraftDifference[] {
  const byId = new Map(queue.drafts.map((draft) => [draft.id, draft]));
  const differing = drafts.filter(({ today, changed }) => !isSame(shown(today), shown(changed)));
  return differing.slice(0, DIFFERENCES_SHOWN).map(({ id, today, changed }) => {
    const draft = byId.get(id);
    return {
      id,
      rule: names(draft?.ruleId ?? ''),
      external_user_id: draft?.userId ?? '',
      today: shown(today),
      changed: shown(changed),
    };
  });
}

function isSame(a: ShownFate, b: ShownFate): boolean {
  return a.becomes === b.becomes && a.at === b.at && (a.becomes === 'leaves' || a.reason === b.reason);
}

function shown(fate: Fate): ShownFate {
  switch (fate.kind) {
    case 'leaves':
      return { becomes: 'leaves', at: iso(fate.leavesAt), reason: fate.after };
    case 'held':
      return { becomes: 'held', at: shownTime(fate.until ?? undefined), reason: fate.reason };
    case 'expires':
      return { becomes: 'expires', at: iso(fate.expiresAt), reason: fate.after };
    default:
      return fate satisfies never;
  }
}

function shownTime(ms: number | undefined): string | null {
  return ms === undefined ? null : iso(ms);
}
